import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Result, TreeEntry, TreeParams } from '../protocol.ts'
import { errno, fsError } from './fs-error.ts'
import type { Location } from './locate.ts'
import { missing } from './near-names.ts'

type Bounds = Pick<TreeParams, 'limit' | 'hashUpTo' | 'depth'>

/** Everything below a directory, parents first, links not followed; a file of at most `hashUpTo` bytes with its SHA-256. */
export async function readTree({ path, real }: Location, bounds: Bounds): Promise<Result<'file.tree'>> {
  const entries: TreeEntry[] = []
  const folders: { name: string; depth: number }[] = [{ name: '', depth: 1 }]
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const name of await namesIn(join(real, folder.name), folder.name === '' ? path : undefined)) {
      if (entries.length === bounds.limit) return { path, entries, truncated: true }
      const inside = folder.name === '' ? name : `${folder.name}/${name}`
      const entry = await describe(join(real, inside), inside, bounds.hashUpTo ?? -1)
      if (entry === undefined) continue
      entries.push(entry)
      if (entry.type === 'directory' && folder.depth < (bounds.depth ?? Number.POSITIVE_INFINITY))
        folders.push({ name: inside, depth: folder.depth + 1 })
    }
  }
  return { path, entries, truncated: false }
}

/** Names in a folder, sorted. A folder that vanished meanwhile is empty; only the top one (`path` is given) must be there. */
async function namesIn(real: string, path: string | undefined): Promise<string[]> {
  try {
    return (await readdir(real)).sort()
  } catch (error) {
    if (path === undefined && errno(error) === 'ENOENT') return []
    if (errno(error) === 'ENOENT') throw await missing(path ?? real)
    if (errno(error) === 'ENOTDIR') throw new WorkspaceError('invalid_argument', `${path ?? real} is a file, not a directory.`)
    throw fsError(error, 'list', path ?? real)
  }
}

async function describe(real: string, path: string, hashUpTo: number): Promise<TreeEntry | undefined> {
  const found = await lstat(real).catch(() => undefined)
  if (found === undefined) return undefined
  const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : found.isSymbolicLink() ? 'symlink' : 'other'
  const entry: TreeEntry = { path, type: kind, size: found.size, mode: found.mode & 0o7777, mtimeMs: found.mtimeMs }
  return kind === 'file' && found.size <= hashUpTo ? { ...entry, sha256: await hashOf(real, path) } : entry
}

async function hashOf(real: string, path: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(real)) hash.update(chunk as Buffer)
  } catch (error) {
    throw fsError(error, 'read', path)
  }
  return hash.digest('hex')
}
