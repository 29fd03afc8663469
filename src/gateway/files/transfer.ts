import { createHash, type Hash } from 'node:crypto'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallContext } from '../dispatch.ts'
import type { PutParams, Result } from '../protocol.ts'
import { readWhole } from './byte-source.ts'
import type { Location } from './locate.ts'
import { expectRegular, type OpenFile, openRegular } from './open-regular.ts'
import { replaceFile } from './replace-file.ts'
import { existsAt } from './write-file.ts'

const MAX_RANGE = 1024 * 1024
const CHUNK = 256 * 1024
const UNSIZED_CAP = 1024 * 1024

/** A byte range of a regular file, base64; shorter than asked for at the end of the file. */
export async function readBytes(location: Location, range: { offset: number; length: number }): Promise<Result<'file.bytes'>> {
  const { offset, length } = range
  if (!Number.isInteger(offset) || !Number.isInteger(length) || offset < 0 || length < 0)
    throw new WorkspaceError('invalid_argument', `${offset}, ${length} is no byte range: both must be whole and not negative.`)
  if (length > MAX_RANGE)
    throw new WorkspaceError('too_large', `${length} bytes were asked for; one call gives at most ${MAX_RANGE}.`)
  const file = await openRegular(location)
  try {
    if (file.stat.size === 0n) {
      const all = await readWhole(file, UNSIZED_CAP)
      return { path: location.path, size: all.length, data: all.subarray(offset, offset + length).toString('base64') }
    }
    const buffer = Buffer.allocUnsafe(Math.min(length, Math.max(0, Number(file.stat.size) - offset)))
    const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, offset)
    return { path: location.path, size: Number(file.stat.size), data: buffer.subarray(0, bytesRead).toString('base64') }
  } finally {
    await file.handle.close()
  }
}

/** Sends a whole file as the call's stream; what is appended meanwhile is left out. */
export async function getFile(location: Location, context: CallContext): Promise<Result<'file.get'>> {
  const file = await openRegular(location)
  try {
    const hash = createHash('sha256')
    const size = await sendAll(file, hash, context)
    return { path: location.path, size, sha256: hash.digest('hex'), mode: Number(file.stat.mode) & 0o7777 }
  } finally {
    await file.handle.close()
  }
}

async function sendAll({ handle, stat }: OpenFile, hash: Hash, context: CallContext): Promise<number> {
  const end = stat.size === 0n ? UNSIZED_CAP : Number(stat.size)
  const readAt = async (position: number): Promise<Buffer> => {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK, end - position)))
    return buffer.subarray(0, (await handle.read(buffer, 0, buffer.length, position)).bytesRead)
  }
  let position = 0
  for (let chunk = await readAt(0); chunk.length > 0; ) {
    context.signal.throwIfAborted()
    position += chunk.length
    // The disk works while this one is hashed and sent.
    const next = readAt(position)
    next.catch(() => {})
    hash.update(chunk)
    await context.send(chunk)
    chunk = await next
  }
  return position
}

/** Makes the call's input stream the file, atomically; when it is aborted or the checksum differs, nothing has changed. */
export async function putFile(
  location: Location,
  context: CallContext,
  options: Omit<PutParams, 'path'>,
): Promise<Result<'file.put'>> {
  const { mode, exclusive = false } = options
  const existing = (await existsAt(location)) ? await expectRegular(location) : undefined
  if (exclusive && existing !== undefined) throw new WorkspaceError('already_exists', `${location.path} exists already.`)
  const hash = createHash('sha256')
  let sha256 = ''
  const ready = async (size: number): Promise<void> => {
    context.signal.throwIfAborted()
    if (options.replaces !== undefined) await expectContent(location, options.replaces)
    sha256 = hash.digest('hex')
    if (options.sha256 === undefined || options.sha256.toLowerCase() === sha256) return
    const message = `The ${size} bytes that arrived for ${location.path} hash to ${sha256}, not to ${options.sha256}.`
    throw new WorkspaceError('protocol', message, { hint: 'Send the file again.' })
  }
  const content = hashed(context, hash)
  const size = await replaceFile(location.real, content, { path: location.path, existing, mode, exclusive, ready })
  return { path: location.path, size, sha256 }
}

async function* hashed(context: CallContext, hash: Hash): AsyncIterable<Uint8Array> {
  for await (const chunk of context.input) {
    context.signal.throwIfAborted()
    hash.update(chunk)
    yield chunk
  }
}

async function expectContent(location: Location, sha256: string | null): Promise<void> {
  const found = (await existsAt(location)) ? await hashOf(location) : null
  if (found === (sha256?.toLowerCase() ?? null)) return
  throw new WorkspaceError('precondition_failed', `${location.path} was changed by somebody else: not written.`)
}

async function hashOf(location: Location): Promise<string> {
  const { handle } = await openRegular(location)
  try {
    const hash = createHash('sha256')
    for await (const chunk of handle.createReadStream({ autoClose: false, start: 0 })) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } finally {
    await handle.close()
  }
}
