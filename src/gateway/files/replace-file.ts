import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import { errno, fsError } from './fs-error.ts'
import type { FileStat } from './open-regular.ts'
import { overwrite } from './overwrite.ts'

/** What is written at once. */
const BATCH_BYTES = 256 * 1024

export interface ReplaceOptions {
  /** The path as it was named, for messages. */
  path: string
  /** Stat of what is there now; absent: a new file. */
  existing?: FileStat | undefined
  /** Permission bits to set instead of the old ones. */
  mode?: number | undefined
  /** What has come to be at the path meanwhile stays, and stops it (`already_exists`). */
  exclusive?: boolean
  /** Checked once everything is staged, before anything changes. */
  ready?: (size: number) => void | Promise<void>
}

/**
 * Makes `content` the content of the file `real`: staged beside it, synced, renamed over it, and its size checked. Mode and owner
 * stay. Where a rename would break a hard link, a mount or an ownership, the staged copy is written in place, and undone on
 * failure. When it throws, the old content is whole and no temporary file is left. Gives the size.
 */
export async function replaceFile(real: string, content: AsyncIterable<Uint8Array>, options: ReplaceOptions): Promise<number> {
  await makeParents(real, options.path)
  const staged = await stage(real, options)
  try {
    const size = await fill(staged.handle, content)
    await options.ready?.(size)
    const renamable = staged.beside && (await keepOwnerAndMode(staged.handle, options))
    await staged.handle.sync()
    await staged.handle.close()
    if (options.exclusive === true) await linkOnce(staged.path, real)
    else if (!renamable || !(await renamed(staged.path, real))) await overwrite(real, staged.path, options.path)
    await checkSize(real, size, options.path)
    return size
  } catch (error) {
    throw fsError(error, 'write', options.path)
  } finally {
    await staged.handle.close().catch(() => {})
    await rm(staged.path, { force: true }).catch(() => {})
  }
}

/** Makes the missing directories above a file. */
export async function makeParents(real: string, path: string): Promise<void> {
  await makeFolders(dirname(real)).catch(error => {
    const code = errno(error)
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw fsError(error, 'make the directory of', path)
    throw new WorkspaceError('invalid_argument', `Cannot write ${path}: a part of the path is a file, not a directory.`, {
      hint: 'Name a path below a directory, or move that file away first.',
      cause: error,
    })
  })
}

interface Staged {
  handle: FileHandle
  path: string
  /** In the directory of the target, so that it can be renamed over it. */
  beside: boolean
}

async function stage(real: string, { existing, path }: ReplaceOptions): Promise<Staged> {
  const name = `.atelier-${randomUUID()}.tmp`
  const beside = join(dirname(real), name)
  try {
    return { handle: await open(beside, 'wx', existing === undefined ? 0o666 : 0o600), path: beside, beside: true }
  } catch (error) {
    const code = errno(error)
    // A directory that we may not add to can still hold a file that we may write.
    if (existing === undefined || !(code === 'EACCES' || code === 'EPERM' || code === 'EROFS'))
      throw fsError(error, 'write', path)
    await writable(real, path)
  }
  const elsewhere = join(tmpdir(), name)
  return { handle: await open(elsewhere, 'wx', 0o600), path: elsewhere, beside: false }
}

async function writable(real: string, path: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const handle = await open(real, flags).catch(error => {
    throw fsError(error, 'write', path)
  })
  await handle.close()
}

/** Writes one batch while the next one comes. */
async function fill(handle: FileHandle, content: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0
  let batch: Uint8Array[] = []
  let held = 0
  let written = Promise.resolve()
  const flush = async (): Promise<void> => {
    await written
    written = writeAll(handle, batch.length === 1 ? (batch[0] as Uint8Array) : Buffer.concat(batch))
    written.catch(() => {})
    batch = []
    held = 0
  }
  for await (const chunk of content) {
    batch.push(chunk)
    size += chunk.length
    held += chunk.length
    if (held >= BATCH_BYTES) await flush()
  }
  await flush()
  await written
  return size
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten
  }
}

/** False when the file can't be replaced by another inode without losing something. */
async function keepOwnerAndMode(handle: FileHandle, { existing, mode }: ReplaceOptions): Promise<boolean> {
  if (existing === undefined) {
    if (mode !== undefined) await handle.chmod(mode & 0o7777)
    return true
  }
  if (existing.nlink > 1n) return false
  const ours = await handle.stat({ bigint: true })
  if (ours.uid !== existing.uid || ours.gid !== existing.gid) {
    try {
      await handle.chown(Number(existing.uid), Number(existing.gid))
    } catch (error) {
      if (errno(error) === 'EPERM' || errno(error) === 'EINVAL') return false
      throw error
    }
  }
  await handle.chmod(mode === undefined ? Number(existing.mode) & 0o7777 : mode & 0o7777)
  return true
}

/** Gives the staged file its name where nothing has it. */
async function linkOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(errno(error) ?? '')) throw error
    // A file system without hard links: an empty file takes the name first.
    await (await open(to, 'wx', 0o600)).close()
    await rename(from, to)
  }
}

/** False when the target can't be renamed over: a mount point, or a directory with the sticky bit. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
  } catch (error) {
    if (['EBUSY', 'EXDEV', 'EPERM', 'EACCES'].includes(errno(error) ?? '')) return false
    throw error
  }
  // The rename itself survives a power cut only when the directory is synced; some file systems refuse that.
  const directory = await open(dirname(to), 'r').catch(() => undefined)
  await directory?.sync().catch(() => {})
  await directory?.close()
  return true
}

async function checkSize(real: string, size: number, path: string): Promise<void> {
  const written = (await stat(real)).size
  if (written === size) return
  throw new WorkspaceError('internal', `Writing ${path} went wrong: it has ${written} bytes instead of ${size}.`, {
    hint: 'Read it again: another program, or the file system, changed it at the same time.',
  })
}
