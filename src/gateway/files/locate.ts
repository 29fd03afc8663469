import { lstat, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { absolutePath, contains } from '../../lib/paths.ts'
import { errno, fsError } from './fs-error.ts'

const MAX_LINKS = 40

/** Where a path leads. */
export interface Location {
  /** Absolute, as it was named. */
  path: string
  /** With every symbolic link followed, also where the last part does not exist yet. */
  real: string
  /** Real path of the directory that it must stay in. */
  confine: string | undefined
}

export interface LocateOptions {
  workdir: string
  home?: string | undefined
  confine?: string | undefined
  /** Leave a symbolic link at the end of the path alone. */
  keepLink?: boolean
}

/** Resolves a named path and refuses one whose real path is outside `confine` (`permission_denied`). */
export async function locate(named: string, options: LocateOptions): Promise<Location> {
  if (typeof named !== 'string' || named === '') throw new WorkspaceError('invalid_argument', 'The path is empty.')
  if (named.includes('\0')) throw new WorkspaceError('invalid_argument', 'The path contains a NUL character.')
  const path = absolutePath(named, options.workdir, options.home)
  const real = options.keepLink === true ? join(await realPath(dirname(path)), basename(path)) : await realPath(path)
  const confine = options.confine === undefined ? undefined : await realPath(options.confine)
  if (confine !== undefined && !contains(confine, real)) throw outside(path, real, confine)
  return { path, real, confine }
}

/** Throws when the located path has come to lead elsewhere (a link was swapped in) since it was checked. */
export async function recheck(location: Location): Promise<void> {
  const now = await realPath(location.real)
  if (now === location.real) return
  if (location.confine !== undefined && !contains(location.confine, now)) throw outside(location.path, now, location.confine)
  throw new WorkspaceError('precondition_failed', `${location.path} was replaced by a symbolic link meanwhile.`)
}

/** The real path; of what does not exist, the real path of its nearest existing ancestor with the rest appended. */
export async function realPath(path: string, depth = 0): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    // Below a file nothing exists either; what then fails says so with the named path.
    if (errno(error) !== 'ENOENT' && errno(error) !== 'ENOTDIR') throw fsError(error, 'resolve', path)
  }
  if (depth > MAX_LINKS) throw new WorkspaceError('invalid_argument', `Cannot resolve ${path}: too many symbolic links.`)
  const parent = dirname(path)
  if (parent === path) return path
  const here = join(await realPath(parent, depth), basename(path))
  const dangling = await lstat(here).then(
    stat => stat.isSymbolicLink(),
    () => false,
  )
  return dangling ? realPath(resolve(dirname(here), await readlink(here)), depth + 1) : here
}

function outside(path: string, real: string, confine: string): WorkspaceError {
  const leads = real === path ? '' : ` (it leads to ${real})`
  return new WorkspaceError('permission_denied', `${path}${leads} is outside ${confine}.`, {
    hint: `Use a path under ${confine}.`,
  })
}
