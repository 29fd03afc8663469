import { constants } from 'node:fs'
import { access, realpath, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { makeFolders } from '../../lib/make-folders.ts'

/** Real path of a directory that the user already had; `not_found`, `invalid_argument` or `permission_denied` name it. */
export async function userDirectory(path: string): Promise<string> {
  let real: string
  try {
    real = await realpath(path)
    if (!(await stat(real)).isDirectory()) throw new WorkspaceError('invalid_argument', `${path} is no directory.`)
    await access(real, constants.R_OK | constants.X_OK)
  } catch (error) {
    if (error instanceof WorkspaceError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT')
      throw new WorkspaceError('not_found', `The directory ${path} does not exist.`, {
        hint: 'Make it, or name another one.',
        cause: error,
      })
    const denied = code === 'EACCES' || code === 'EPERM'
    throw new WorkspaceError(denied ? 'permission_denied' : 'unavailable', `The directory ${path} can't be opened: ${message}.`, {
      cause: error,
    })
  }
  return real
}

/**
 * Makes `path` with its parents, 0700, and gives what takes it back: only the folders made by this call, and only while they
 * are empty.
 */
export async function makeFolder(path: string): Promise<() => Promise<void>> {
  const first = await makeFolders(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    const code = error.code === 'ENOSPC' ? 'no_space' : 'permission_denied'
    throw new WorkspaceError(code, `The folder ${path} can't be made: ${error.message}.`, {
      hint: 'Set another data directory, or make this one writable.',
      cause: error,
    })
  })
  return async () => {
    if (first === undefined) return
    for (let folder = path; folder.length >= first.length; folder = dirname(folder)) {
      const removed = await rmdir(folder).then(
        () => true,
        () => false,
      )
      if (!removed) return
    }
  }
}

/** The data directory as every process spells it: its real path, or that of its nearest existing parent. */
export async function realDataDir(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const parent = join(path, '..')
    return parent === path ? path : join(await realDataDir(parent), path.slice(parent.length).replace(/^\/+/, ''))
  }
}
