import { lstat, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import { contains } from '../../lib/paths.ts'
import type { Result } from '../protocol.ts'
import { errno, fsError } from './fs-error.ts'
import type { Location } from './locate.ts'

/**
 * Renames a file, a link or a directory within one file system, in one step. What is at the target stops it (`already_exists`)
 * unless it is a file and `replace` is set; missing parents of the target are made.
 */
export async function movePath(from: Location, to: Location, { replace }: { replace: boolean }): Promise<Result<'file.move'>> {
  if (contains(from.real, to.real) && from.real !== to.real)
    throw new WorkspaceError('invalid_argument', `${from.path} can not be moved into itself (${to.path}).`)
  const there = await lstat(to.real).catch(() => undefined)
  if (there !== undefined && (!replace || there.isDirectory()))
    throw new WorkspaceError('already_exists', `Cannot move ${from.path} to ${to.path}: it exists already.`)
  try {
    await makeFolders(dirname(to.real))
    await rename(from.real, to.real)
  } catch (error) {
    const code = errno(error)
    if (code === 'ENOTEMPTY' || code === 'EEXIST')
      throw new WorkspaceError('already_exists', `Cannot move ${from.path} to ${to.path}: it exists already.`, { cause: error })
    if (code === 'EXDEV')
      throw new WorkspaceError('unsupported', `Cannot move ${from.path} to ${to.path}: it is another file system.`, {
        hint: 'Copy it, then remove the original.',
        cause: error,
      })
    throw fsError(error, 'move', from.path)
  }
  return { path: to.path }
}
