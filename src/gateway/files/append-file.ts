import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallContext } from '../dispatch.ts'
import type { AppendParams, AppendResult } from '../protocol.ts'
import { errno, fsError } from './fs-error.ts'
import { type Location, recheck } from './locate.ts'
import { makeParents } from './replace-file.ts'

/** Most bytes that one append takes: they must be in memory to go out as one write. */
export const APPEND_MAX_BYTES = 64 * 1024 ** 2
const LINE_FEED = 10

/**
 * Appends in one `O_APPEND` write, so that appends of several gateways and programs never mix, and none costs more the longer the
 * file is. A write that a full disk cut short is taken back. A new file gets `mode`, and missing parents are made.
 */
export async function appendFile(
  location: Location,
  context: CallContext,
  params: Omit<AppendParams, 'path' | 'confine'>,
): Promise<AppendResult> {
  const { path, real } = location
  const data = await dataOf(params, { context, path })
  context.signal.throwIfAborted()
  await makeParents(real, path)
  const { handle, created } = await openToAppend(location, params)
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw new WorkspaceError('invalid_argument', `Cannot append to ${path}: it is no regular file.`)
    const unfinished = params.ownLine === true && stat.size > 0 && (await lastByte(handle, stat.size)) !== LINE_FEED
    const end = await writeOnce(handle, unfinished ? Buffer.concat([Buffer.from('\n'), data]) : data, path)
    return { path, created, bytes: data.length, ...(end === undefined ? {} : { offset: end - data.length }) }
  } catch (error) {
    throw fsError(error, 'append to', path)
  } finally {
    await handle.close()
  }
}

async function dataOf(
  { data, encoding = 'utf8' }: Pick<AppendParams, 'data' | 'encoding'>,
  { context, path }: { context: CallContext; path: string },
): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  const take = (part: Uint8Array): void => {
    context.signal.throwIfAborted()
    bytes += part.length
    if (bytes > APPEND_MAX_BYTES)
      throw new WorkspaceError('too_large', `More than ${APPEND_MAX_BYTES} bytes were to be appended to ${path} at once.`, {
        hint: 'Append it in several calls.',
      })
    parts.push(part)
  }
  if (data !== undefined) take(Buffer.from(data, encoding))
  else for await (const chunk of context.input) take(chunk)
  return Buffer.concat(parts)
}

async function openToAppend(location: Location, { mode, ownLine }: Pick<AppendParams, 'mode' | 'ownLine'>) {
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY } = constants
  const flags = (ownLine === true ? O_RDWR : O_WRONLY) | O_APPEND | O_NOFOLLOW | O_NONBLOCK
  // Whoever removes the file between the two makes it a new one.
  for (let attempt = 0; ; attempt += 1) {
    try {
      return { handle: await open(location.real, flags), created: false }
    } catch (error) {
      if (errno(error) === 'ELOOP') await recheck(location)
      if (errno(error) !== 'ENOENT' || attempt === 3) throw fsError(error, 'append to', location.path)
    }
    try {
      return { handle: await open(location.real, flags | O_CREAT | O_EXCL, mode ?? 0o666), created: true }
    } catch (error) {
      if (errno(error) !== 'EEXIST') throw fsError(error, 'append to', location.path)
    }
  }
}

async function lastByte(handle: FileHandle, size: number): Promise<number | undefined> {
  const byte = Buffer.alloc(1)
  const { bytesRead } = await handle.read(byte, 0, 1, size - 1)
  return bytesRead === 0 ? undefined : byte[0]
}

/** Writes all of it and gives the place behind it, where that is certain. */
async function writeOnce(handle: FileHandle, data: Buffer, path: string): Promise<number | undefined> {
  const before = (await handle.stat()).size
  if (data.length === 0) return before
  const { bytesWritten } = await handle.write(data)
  const end = (await handle.stat()).size
  if (bytesWritten === data.length) return end === before + bytesWritten ? end : undefined
  if (end === before + bytesWritten) await handle.truncate(before)
  throw new WorkspaceError('no_space', `Only ${bytesWritten} of ${data.length} bytes could be appended to ${path}.`)
}
