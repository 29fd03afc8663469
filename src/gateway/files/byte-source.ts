import type { FileHandle } from 'node:fs/promises'
import { decode, type Encoding } from './encoding.ts'
import type { OpenFile } from './open-regular.ts'

const CHUNK = 512 * 1024
/** Files up to this size are held whole while they are read. */
const HELD = 1024 * 1024
/** Most that is read of a file that does not know its size (`/proc`). */
const UNSIZED_CAP = 1024 * 1024

/** The bytes of an open file: a small one in memory, a large one chunk by chunk. A chunk is valid until the next is asked for. */
export interface ByteSource {
  readonly size: number
  read(position: number, length: number): Promise<Buffer>
  chunks(from: number): AsyncIterable<Buffer>
}

/** `signal` ends the reading of a large file; what is appended to it meanwhile is left out. */
export async function byteSource(file: OpenFile, signal?: AbortSignal): Promise<ByteSource> {
  const size = Number(file.stat.size)
  if (size > HELD) return largeSource(file.handle, size, signal)
  const bytes = await readWhole(file, size === 0 ? UNSIZED_CAP : HELD)
  return {
    size: bytes.length,
    read: async (position, length) => bytes.subarray(position, position + length),
    chunks: async function* (from) {
      if (from < bytes.length) yield bytes.subarray(from)
    },
  }
}

/** All bytes of a file, whatever size it claims, up to `cap`. */
export async function readWhole(file: OpenFile, cap: number): Promise<Buffer> {
  const expected = Math.min(cap, Number(file.stat.size))
  let bytes = Buffer.allocUnsafe(expected > 0 ? expected + 1 : 64 * 1024)
  let length = 0
  for (;;) {
    if (length === bytes.length) {
      if (length >= cap) return bytes.subarray(0, cap)
      const grown = Buffer.allocUnsafe(length * 2)
      bytes.copy(grown, 0, 0, length)
      bytes = grown
    }
    const { bytesRead } = await file.handle.read(bytes, length, bytes.length - length, length)
    if (bytesRead === 0) return bytes.subarray(0, Math.min(length, cap))
    length += bytesRead
  }
}

function largeSource(handle: FileHandle, size: number, signal: AbortSignal | undefined): ByteSource {
  const read = async (position: number, length: number): Promise<Buffer> => {
    signal?.throwIfAborted()
    const buffer = Buffer.allocUnsafe(length)
    return buffer.subarray(0, await fill(handle, buffer, position))
  }
  return {
    size,
    read,
    chunks: async function* (from) {
      const buffer = Buffer.allocUnsafe(CHUNK)
      for (let position = from; position < size; ) {
        signal?.throwIfAborted()
        const { bytesRead } = await handle.read(buffer, 0, Math.min(CHUNK, size - position), position)
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
        position += bytesRead
      }
    },
  }
}

async function fill(handle: FileHandle, buffer: Buffer, position: number): Promise<number> {
  let length = 0
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, position + length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return length
}

/** UTF-16 chunks as UTF-8 ones, split at code points. */
export async function* asUtf8(chunks: AsyncIterable<Buffer>, encoding: Encoding): AsyncIterable<Buffer> {
  let rest = Buffer.alloc(0)
  const big = encoding === 'utf-16be'
  for await (const chunk of chunks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let whole = bytes.length & ~1
    const lastHigh = whole >= 2 ? bytes[big ? whole - 2 : whole - 1]! : 0
    if (lastHigh >= 0xd8 && lastHigh <= 0xdb) whole -= 2
    yield Buffer.from(decode(bytes.subarray(0, whole), encoding), 'utf8')
    rest = Buffer.from(bytes.subarray(whole))
  }
  if (rest.length > 1) yield Buffer.from(decode(rest, encoding), 'utf8')
}
