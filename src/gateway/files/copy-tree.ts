import { chmod, copyFile, lstat, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import type { CopyParams, Result, TreeEntry } from '../protocol.ts'
import { fsError } from './fs-error.ts'
import type { Location } from './locate.ts'
import { readTree } from './tree.ts'

export interface CopyOptions extends Pick<CopyParams, 'exclude' | 'maxFiles' | 'maxBytes'> {
  signal: AbortSignal
}

/**
 * Copies a directory to a path where nothing is: regular files and folders with their permission bits (never setuid), links and
 * special files left out and named. Sizes are checked before anything is written.
 */
export async function copyTree(from: Location, to: Location, options: CopyOptions): Promise<Result<'file.copy'>> {
  const { maxFiles, maxBytes, exclude = [], signal } = options
  const tree = await readTree(from, { limit: 20 * maxFiles })
  const wanted = tree.entries.filter(entry => !entry.path.split('/').some(name => exclude.includes(name)))
  const files = wanted.filter(entry => entry.type === 'file')
  const bytes = files.reduce((sum, file) => sum + file.size, 0)
  if (tree.truncated || files.length > maxFiles || bytes > maxBytes)
    throw new WorkspaceError('too_large', `${from.path} has more than ${maxFiles} files or ${maxBytes} bytes: not copied.`, {
      hint: 'Copy a folder that holds only what is needed.',
    })
  if ((await lstat(to.real).catch(() => undefined)) !== undefined)
    throw new WorkspaceError('already_exists', `Cannot copy ${from.path} to ${to.path}: it exists already.`)
  try {
    await makeFolders(dirname(to.real))
    await mkdir(to.real)
    for (const entry of wanted) {
      signal.throwIfAborted()
      await copyEntry(entry, join(from.real, entry.path), join(to.real, entry.path))
    }
  } catch (error) {
    throw fsError(error, 'copy', from.path)
  }
  const skipped = wanted.filter(entry => entry.type === 'symlink' || entry.type === 'other').map(entry => entry.path)
  return { path: to.path, files: files.length, bytes, skipped }
}

async function copyEntry(entry: TreeEntry, from: string, to: string): Promise<void> {
  if (entry.type === 'directory') await mkdir(to)
  if (entry.type !== 'file') return
  await copyFile(from, to)
  await chmod(to, (entry.mode & 0o777) | 0o200)
}
