import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Environment, UploadFile } from '../backends/backend.ts'
import { nodeFor } from '../backends/host/node-for.ts'
import { WorkspaceError } from '../lib/errors.ts'
import { type Found, look, noNode } from './look.ts'

export interface InstallOptions {
  /** Private folder inside. */
  dir: string
  /** Path of the built gateway program on this host. */
  script: string
  /** Folder on this host for a downloaded node. */
  cacheDir: string
  signal: AbortSignal
}

const NPM_CPU: Readonly<Record<string, string>> = { x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64' }

/**
 * Makes sure that an environment holds this very gateway program and a node for it, and gives their paths inside. What is there
 * already, also in an image or template, is used; what is missing goes in with one upload.
 */
export async function install(environment: Environment, options: InstallOptions): Promise<{ node: string; script: string }> {
  const { dir, signal } = options
  const data = await readFile(options.script)
  const hash = createHash('sha256').update(data).digest('hex')
  const wanted = { dir, name: `gateway-${hash.slice(0, 16)}.mjs`, hash }
  const found = await look(environment, wanted, signal)
  if (found.node !== undefined && found.script !== undefined) return { node: found.node, script: found.script }
  const arrived = `.${randomBytes(6).toString('hex')}`
  const files: UploadFile[] = [{ path: `${dir}/${wanted.name}${arrived}`, data, mode: 0o700 }]
  if (found.node === undefined)
    files.push({ path: `${dir}/node${arrived}`, data: await nodeToPutIn(found, options), mode: 0o700 })
  await environment.upload(files, { signal })
  const now = await look(environment, { ...wanted, arrived }, signal)
  if (now.node === undefined) throw noNode(now)
  if (now.script === undefined)
    throw new WorkspaceError('unavailable', `The gateway program did not arrive whole in "${dir}".`, {
      hint: 'Try again; if it happens each time, see whether the disk of the environment is full.',
    })
  return { node: now.node, script: now.script }
}

async function nodeToPutIn(found: Found, { cacheDir }: InstallOptions): Promise<Buffer> {
  const cpu = NPM_CPU[found.cpu]
  if (found.system !== 'Linux' || !found.glibc || cpu === undefined) throw noNode(found)
  try {
    return await readFile((await nodeFor(cpu, cacheDir)).file)
  } catch (error) {
    throw noNode(found, error)
  }
}
