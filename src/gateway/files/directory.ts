import type { BigIntStats, Dirent } from 'node:fs'
import { lstat, readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import { contains } from '../../lib/paths.ts'
import type { ListResult, Result, StatResult } from '../protocol.ts'
import { errno, fsError } from './fs-error.ts'
import type { Location } from './locate.ts'
import { missing } from './near-names.ts'

const STAT_BATCH = 64

/** What is at a path, links followed; a link that leads nowhere is a `symlink`, nothing at all is `missing`. */
export async function statPath({ path, real }: Location): Promise<StatResult> {
  const found = await stat(real).catch(error => {
    if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') return undefined
    throw fsError(error, 'look at', path)
  })
  if (found !== undefined)
    return { path, type: typeOf(found), size: found.size, mode: found.mode & 0o7777, mtimeMs: found.mtimeMs }
  const link = await lstat(path).catch(() => undefined)
  if (link?.isSymbolicLink()) return { path, type: 'symlink', size: link.size, mode: link.mode & 0o7777, mtimeMs: link.mtimeMs }
  return { path, type: 'missing', size: 0, mode: 0, mtimeMs: 0 }
}

/** The entries of a directory by name, links not followed; at most `limit`. */
export async function listDirectory({ path, real }: Location, limit: number): Promise<ListResult> {
  const all = await readdir(real, { withFileTypes: true }).catch(async error => {
    if (errno(error) === 'ENOENT') throw await missing(path)
    if (errno(error) === 'ENOTDIR') throw new WorkspaceError('invalid_argument', `${path} is a file, not a directory.`)
    throw fsError(error, 'list', path)
  })
  all.sort((a, b) => (a.name < b.name ? -1 : 1))
  const entries: ListResult['entries'] = []
  for (let at = 0; at < Math.min(limit, all.length); at += STAT_BATCH) {
    const batch = all.slice(at, Math.min(limit, at + STAT_BATCH))
    entries.push(...(await Promise.all(batch.map(entry => describe(real, entry)))))
  }
  return { path, entries, truncated: all.length > limit }
}

async function describe(directory: string, entry: Dirent): Promise<ListResult['entries'][number]> {
  const found = await lstat(join(directory, entry.name)).catch(() => undefined)
  return { name: entry.name, type: typeOf(found ?? entry), size: found?.size ?? 0, mtimeMs: found?.mtimeMs ?? 0 }
}

/** Makes a directory with its parents; one that exists already is fine. */
export async function makeDirectory({ path, real }: Location): Promise<Result<'file.mkdir'>> {
  await makeFolders(real).catch(error => {
    if (errno(error) === 'EEXIST')
      throw new WorkspaceError('already_exists', `${path} is a file: no directory can be made there.`)
    throw fsError(error, 'make the directory', path)
  })
  return { path }
}

/** Removes a file, a link (never what it leads to), or a directory: an empty one, or any with `recursive`. */
export async function removePath(
  { path, real }: Location,
  options: { recursive: boolean; workdir: string },
): Promise<Result<'file.remove'>> {
  if (contains(real, options.workdir))
    throw new WorkspaceError('invalid_argument', `${path} holds the working directory and is not removed.`, {
      hint: 'Remove what is in it instead.',
    })
  const found = await lstat(real).catch(error => {
    if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') return undefined
    throw fsError(error, 'remove', path)
  })
  if (found === undefined) return { removed: false }
  try {
    if (found.isDirectory() && !options.recursive) await rmdir(real)
    else await rm(real, { recursive: options.recursive })
  } catch (error) {
    if (errno(error) === 'ENOENT') return { removed: false }
    throw fsError(error, 'remove', path)
  }
  return { removed: true }
}

type Kind = Pick<BigIntStats, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>

function typeOf(found: Kind): StatResult['type'] {
  if (found.isFile()) return 'file'
  if (found.isDirectory()) return 'directory'
  if (found.isSymbolicLink()) return 'symlink'
  if (found.isFIFO()) return 'fifo'
  return found.isSocket() ? 'socket' : 'device'
}
