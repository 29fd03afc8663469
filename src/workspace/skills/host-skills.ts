import type { Dirent } from 'node:fs'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join, relative, sep } from 'node:path'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import { absolutePath, contains } from '../../lib/paths.ts'

/** A regular file below a host folder. */
export interface HostFile {
  /** Relative to the folder, with `/`. */
  path: string
  size: number
  mode: number
  open(): AsyncIterable<Uint8Array>
}

export interface HostFolder {
  folder: string
  files: HostFile[]
  /** Links and special files that were passed over. */
  left: string[]
}

/** Names that belong to no skill. */
export const LEFT_OUT = ['.git', '.DS_Store', '__MACOSX']

/** The path on this host that a user means, `~` filled in. */
export const hostPath = (path: string): string => absolutePath(path, homedir(), homedir())

/** All regular files below a folder of the host, within bounds; links are not followed. */
export async function readHostFolder(folder: string, bounds: { maxFiles: number; maxBytes: number }): Promise<HostFolder> {
  const found: HostFolder = { folder, files: [], left: [] }
  let bytes = 0
  for (const entry of await entriesBelow(folder)) {
    const full = join(entry.parentPath, entry.name)
    const path = relative(folder, full).split(sep).join('/')
    if (entry.isDirectory() || path.split('/').some(part => LEFT_OUT.includes(part))) continue
    if (!entry.isFile()) {
      found.left.push(path)
      continue
    }
    const { size, mode } = await lstat(full)
    bytes += size
    found.files.push({ path, size, mode: (mode & 0o111) === 0 ? 0o644 : 0o755, open: () => createReadStream(full) })
    if (found.files.length > bounds.maxFiles || bytes > bounds.maxBytes)
      throw new WorkspaceError('too_large', `${folder} has more than ${bounds.maxFiles} files or ${bounds.maxBytes} bytes.`)
  }
  return found
}

async function entriesBelow(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { recursive: true, withFileTypes: true })
  } catch (error) {
    throw unreadable(folder, error)
  }
}

/** What a host path names: a folder with a `SKILL.md`, a file's bytes, or nothing. */
export async function lookAtHost(
  path: string,
  maxBytes: number,
): Promise<{ folder: string } | { archive: Uint8Array } | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return { folder: path }
  if (!found?.isFile()) return undefined
  if (basename(path) === 'SKILL.md') return { folder: join(path, '..') }
  if (found.size > maxBytes)
    throw new WorkspaceError('too_large', `${path} has ${found.size} bytes; an archive may have ${maxBytes}.`)
  return { archive: await readFile(path).catch(error => Promise.reject(unreadable(path, error))) }
}

/** Whether a host path, after links, lies in one of the directories that the operator named. */
export async function isAllowed(path: string, allowed: readonly string[]): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined) return false
  const roots = await Promise.all(allowed.map(root => realpath(root).catch(() => undefined)))
  return roots.some(root => root !== undefined && contains(root, real))
}

function unreadable(path: string, error: unknown): WorkspaceError {
  const code = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'not_found' : 'permission_denied'
  return new WorkspaceError(code, `Cannot read ${path}: ${toWorkspaceError(error).message}`, { cause: error })
}
