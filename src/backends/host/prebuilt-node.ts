import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { WorkspaceError } from '../../lib/errors.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import { firstFile } from './archive.ts'

/** The line of Node that is put into environments without one. */
const MAJOR = 22
const MAX_BYTES = 256 * 1024 ** 2
const FETCH_MS = 300_000

/** Path of npm's prebuilt node for a platform such as `linux-x64`, fetched once and kept in `folder`. Throws `unavailable`. */
export async function prebuiltNode(platform: string, folder: string): Promise<string> {
  const kept = join(folder, `node-${MAJOR}-${platform}`)
  if (
    await access(kept).then(
      () => true,
      () => false,
    )
  )
    return kept
  await makeFolders(folder, { mode: 0o700 })
  const work = await mkdtemp(join(folder, '.fetch-'))
  try {
    const archive = await fetchPackage(`node-${platform}@${MAJOR}`, work)
    const unzipped = createReadStream(archive).pipe(createGunzip())
    const node = await firstFile(unzipped, path => path.endsWith('bin/node'), MAX_BYTES)
    if (node === undefined) throw new Error('the package holds no bin/node')
    const temporary = `${kept}.${randomBytes(6).toString('hex')}`
    await writeFile(temporary, node, { mode: 0o755, flag: 'wx' })
    await rename(temporary, kept)
    return kept
  } catch (error) {
    throw new WorkspaceError('unavailable', `Node for ${platform} can't be fetched with npm: ${(error as Error).message}`, {
      hint: 'Use an image that has Node 18 or newer, or make the npm registry reachable.',
      cause: error,
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function fetchPackage(name: string, into: string): Promise<string> {
  const args = ['pack', name, '--pack-destination', into, '--json', '--silent']
  const { stdout } = await promisify(execFile)('npm', args, { timeout: FETCH_MS, shell: process.platform === 'win32' })
  const [packed] = JSON.parse(stdout) as { filename: string }[]
  if (packed === undefined) throw new Error(`npm packed nothing for ${name}`)
  return join(into, packed.filename)
}
