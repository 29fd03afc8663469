import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { WorkspaceError } from '../../lib/errors.ts'
import { errno, fsError } from './fs-error.ts'
import { type Location, recheck } from './locate.ts'
import { missing } from './near-names.ts'

export type FileStat = Awaited<ReturnType<typeof statBig>>

/** `stat` with nanosecond times. */
export function statBig(path: string) {
  return stat(path, { bigint: true })
}

export interface OpenFile {
  handle: FileHandle
  stat: FileStat
}

/**
 * Opens a regular file for reading, without ever blocking. A directory, pipe, socket, device, missing or forbidden file, and one
 * that was swapped for a link after it was located, each have their own error. The caller closes the handle.
 */
export async function openRegular(location: Location): Promise<OpenFile> {
  await expectRegular(location)
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const handle = await open(location.real, flags).catch(async error => {
    if (errno(error) === 'ELOOP') await recheck(location)
    throw fsError(error, 'read', location.path)
  })
  try {
    const opened = await handle.stat({ bigint: true })
    if (!opened.isFile()) throw notRegular(location.path, opened)
    if (location.confine !== undefined) await sameFile(location, opened)
    return { handle, stat: opened }
  } catch (error) {
    await handle.close()
    throw fsError(error, 'read', location.path)
  }
}

/** The `stat` of the located file; throws where it is anything but a regular file. */
export async function expectRegular(location: Location): Promise<FileStat> {
  const found = await statBig(location.real).catch(async error => {
    throw errno(error) === 'ENOENT' ? await missing(location.path) : fsError(error, 'read', location.path)
  })
  if (!found.isFile()) throw notRegular(location.path, found)
  return found
}

async function sameFile(location: Location, opened: FileStat): Promise<void> {
  await recheck(location)
  const now = await statBig(location.real)
  if (now.dev !== opened.dev || now.ino !== opened.ino)
    throw new WorkspaceError('precondition_failed', `${location.path} was replaced while it was opened.`)
}

function notRegular(path: string, found: FileStat): WorkspaceError {
  if (found.isDirectory())
    return new WorkspaceError('invalid_argument', `${path} is a directory, not a file.`, { hint: 'List it with Glob or `ls`.' })
  const what = found.isFIFO()
    ? 'a named pipe (FIFO)'
    : found.isSocket()
      ? 'a socket'
      : found.isCharacterDevice() || found.isBlockDevice()
        ? 'a device'
        : 'no regular file'
  return new WorkspaceError('invalid_argument', `${path} is ${what}: only regular files can be read and written.`, {
    hint: 'Use Bash with a timeout, if it is really meant.',
  })
}
