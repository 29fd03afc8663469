import { readSync, writeSync } from 'node:fs'
import { BYTES_FD, MAX_ANSWER_BYTES, REQUEST_BYTES } from './protocol.ts'

/** Of a file that is read in order. */
const CHUNK = MAX_ANSWER_BYTES
/** Of one whose parts are read in no order, as those of a PDF are, and how many are kept. */
const BLOCK = 64 * 1024
const KEPT = 128

/** The file that is read, pulled from the host as it is needed; reading waits. */
export class HostBytes {
  readonly size: number
  readonly #blocks = new Map<number, Buffer>()
  #fetched = 0

  constructor(size: number) {
    this.size = size
  }

  /** Bytes that were fetched so far for `readInto`. */
  get fetched(): number {
    return this.#fetched
  }

  /** Copies bytes to `target`; fewer than asked for at the end of the file. */
  readInto(target: Uint8Array, position: number): number {
    let done = 0
    while (done < target.length && position + done < this.size) {
      const at = position + done
      const block = this.#block(Math.floor(at / BLOCK))
      const part = block.subarray(at % BLOCK, (at % BLOCK) + target.length - done)
      if (part.length === 0) break
      target.set(part, done)
      done += part.length
    }
    return done
  }

  /** The first bytes. */
  first(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, this.readInto(bytes, 0))
  }

  /** The whole file. */
  all(): Buffer {
    const bytes = Buffer.allocUnsafe(this.size)
    let at = 0
    while (at < this.size) {
      const got = askInto(bytes.subarray(at, at + CHUNK), at)
      if (got === 0) break
      at += got
    }
    return bytes.subarray(0, at)
  }

  /** The file in order. */
  *chunks(): Generator<Buffer> {
    for (let at = 0; at < this.size; at += CHUNK) {
      const chunk = ask(at, Math.min(CHUNK, this.size - at))
      yield chunk
      if (chunk.length < CHUNK) return
    }
  }

  #block(index: number): Buffer {
    const known = this.#blocks.get(index)
    this.#blocks.delete(index)
    const block = known ?? ask(index * BLOCK, Math.min(BLOCK, this.size - index * BLOCK))
    if (known === undefined) this.#fetched += block.length
    this.#blocks.set(index, block)
    if (this.#blocks.size > KEPT) this.#blocks.delete(this.#blocks.keys().next().value as number)
    return block
  }
}

function ask(offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, askInto(bytes, offset))
}

/** Asks for as many bytes as `target` holds, and gives how many came. */
function askInto(target: Buffer, offset: number): number {
  const request = Buffer.alloc(REQUEST_BYTES)
  request.writeDoubleLE(offset, 0)
  request.writeDoubleLE(target.length, 8)
  writeSync(BYTES_FD, request)
  const length = Buffer.alloc(4)
  receive(length)
  const got = Math.min(length.readUInt32LE(), target.length)
  receive(target.subarray(0, got))
  return got
}

function receive(target: Buffer): void {
  for (let at = 0; at < target.length; ) {
    const got = readSync(BYTES_FD, target, at, target.length - at, null)
    if (got === 0) throw new Error('the host is gone')
    at += got
  }
}
