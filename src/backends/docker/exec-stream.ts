import { Duplex } from 'node:stream'

const HEADER_BYTES = 8
const STDERR = 2
/** Node's own default makes a stop and a start of every frame. */
const BUFFER_BYTES = 256 * 1024

/**
 * The engine's framed stream of one process as plain bytes: its stdout to read, its stdin to write. Ending it half-closes,
 * destroying it closes.
 */
export class ExecStream extends Duplex {
  readonly #socket: Duplex
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerLength = 0
  #left = 0
  #channel = 0
  #over = false
  readonly #complain: (part: Buffer) => void

  constructor(socket: Duplex, onStderr: (part: Buffer) => void) {
    super({ highWaterMark: BUFFER_BYTES })
    this.#socket = socket
    this.#complain = onStderr
    socket.on('data', (chunk: Buffer) => {
      if (!this.#take(chunk)) socket.pause()
    })
    socket.once('end', () => this.#eof())
    socket.once('error', error => this.destroy(error))
    socket.once('close', () => this.#eof())
    // The engine ends both directions at once.
    this.once('end', () => this.destroy())
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const last = chunks.pop()
    this.#socket.cork()
    for (const { chunk } of chunks) this.#socket.write(chunk)
    this.#socket.write(last?.chunk ?? '', done)
    this.#socket.uncork()
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  #eof(): void {
    if (!this.#over) this.push(null)
    this.#over = true
  }

  /** Takes the frames apart; `false` when the reader has enough for now. */
  #take(chunk: Buffer): boolean {
    let wanted = true
    for (let at = 0; at < chunk.length; ) {
      if (this.#left === 0) {
        at += this.#takeHeader(chunk, at)
        continue
      }
      const part = chunk.subarray(at, at + this.#left)
      at += part.length
      this.#left -= part.length
      if (this.#channel === STDERR) this.#complain(part)
      else if (!this.#over) wanted = this.push(part)
    }
    return wanted
  }

  #takeHeader(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#header, this.#headerLength, at, at + HEADER_BYTES - this.#headerLength)
    this.#headerLength += taken
    if (this.#headerLength === HEADER_BYTES) {
      this.#headerLength = 0
      this.#channel = this.#header[0] ?? 0
      this.#left = this.#header.readUInt32BE(4)
    }
    return taken
  }
}
