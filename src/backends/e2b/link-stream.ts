import { Duplex } from 'node:stream'
import { type Input, requestInput } from './input.ts'
import type { CommandHandle } from './sdk.ts'

/** Writes are gathered up to this, more costs throughput. */
const CHUNK_BYTES = 256 * 1024
const BUFFER_BYTES = 1024 * 1024

/** One process of a sandbox as a stream: what it prints to read, its input to write. Destroying it ends the process. */
export class LinkStream extends Duplex {
  #handle: CommandHandle | undefined
  #input: Input | undefined
  #resume: (() => void) | undefined
  #over = false

  constructor() {
    super({ readableHighWaterMark: BUFFER_BYTES, writableHighWaterMark: BUFFER_BYTES })
    // A process that has ended takes no more input.
    this.once('end', () => this.destroy())
  }

  /** The process and its input, once they are there. */
  use(handle: CommandHandle, input: Input = requestInput(handle)): void {
    this.#handle = handle
    this.#input = input
  }

  /** What the process printed; resolves when the reader has room for more, which holds up the process. */
  receive(data: Buffer): Promise<void> | undefined {
    if (this.#over || this.destroyed || this.push(data)) return undefined
    return new Promise(resolve => (this.#resume = resolve))
  }

  /** The process has ended. */
  finish(): void {
    if (!this.#over) this.push(null)
    this.#over = true
  }

  override _read(): void {
    this.#resume?.()
    this.#resume = undefined
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send([chunk]).then(() => done(), done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#send(chunks.map(({ chunk }) => chunk)).then(() => done(), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    // A process that is gone has its end already.
    const ended = this.#over || this.#input === undefined ? Promise.resolve() : this.#input.end().catch(() => {})
    void ended.then(() => done())
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#resume?.()
    this.#input?.close()
    const handle = this.#handle
    // Nobody else ends it: it outlives its connection.
    if (handle !== undefined && !this.#over) handle.kill().catch(() => {})
    handle?.disconnect().catch(() => {})
    done(error)
  }

  async #send(chunks: readonly Buffer[]): Promise<void> {
    const all = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    for (let at = 0; at < all.length; at += CHUNK_BYTES) await this.#input?.write(all.subarray(at, at + CHUNK_BYTES))
  }
}
