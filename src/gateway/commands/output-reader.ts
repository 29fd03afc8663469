import { closeSync, readSync } from 'node:fs'
import { Socket, type SocketConstructorOpts } from 'node:net'

/** Output and the end of a pipe come in two turns of the event loop. */
const LEAST_TURNS = 3
/** A command that is over sooner needs no stream. */
const SHORT_MS = 4
/** Reads in one turn of the event loop. */
const MOST_READS = 16

/** One buffer for all readers: what is read is handled before the next read. */
export function sharedReadBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(65_536)
}

/**
 * Reads a pipe until its end or until told to stop; its descriptor is never touched after that. Most commands are over soon: what
 * they wrote is read at their exit, and only a longer one gets a stream.
 */
export class OutputReader {
  readonly #fd: number
  readonly #buffer: Buffer
  readonly #onChunk: (chunk: Buffer) => void
  #socket: Socket | undefined
  readonly #soon: NodeJS.Timeout
  #done!: () => void
  /** Resolves when the pipe has no writer any more, or was given up. */
  readonly ended = new Promise<void>(resolve => {
    this.#done = resolve
  })
  #close!: () => void
  /** Resolves when the descriptor is closed. */
  readonly closed = new Promise<void>(resolve => {
    this.#close = resolve
  })
  #eof = false
  #over = false
  #chunks = 0
  #holds = 0

  /** `onChunk` gets bytes that are valid during the call only. */
  constructor(fd: number, options: { buffer: Buffer; onChunk: (chunk: Buffer) => void }) {
    this.#fd = fd
    this.#buffer = options.buffer
    this.#onChunk = options.onChunk
    // exits that came meanwhile, as with many commands at once, are told between the two
    this.#soon = setTimeout(() => setImmediate(() => this.#stream()), SHORT_MS)
  }

  /** Whether every writer is gone. */
  get eof(): boolean {
    return this.#eof
  }

  /** Stops reading until as many `resume` calls have come: the writer waits meanwhile. */
  pause(): void {
    if (this.#holds++ === 0) this.#socket?.pause()
  }

  resume(): void {
    if (--this.#holds === 0 && this.#socket?.destroyed === false) this.#socket.resume()
  }

  /**
   * Reads on after the command's exit: to the end, or until it was quiet for `quietMs`, `maxMs` at most. Time counts only where
   * this process had turns to read in: busy with other commands, it would take what waits in the pipe for nothing.
   */
  async drain(limits: { quietMs: number; maxMs: number }): Promise<void> {
    this.#readNow()
    if (!this.#eof) this.#stream()
    const start = performance.now()
    for (let turn = 0; !this.#eof && (turn < LEAST_TURNS || performance.now() - start < limits.maxMs); turn++) {
      const before = this.#chunks
      await this.#endedWithin(limits.quietMs)
      if (this.#chunks === before && this.#holds === 0) return
    }
  }

  /** Gives the pipe up without reading again. */
  destroy(): void {
    this.#finish(this.#eof)
    if (this.#socket !== undefined) this.#socket.destroy()
    else if (!this.#over) {
      closeSync(this.#fd)
      this.#close()
    }
    this.#over = true
    clearTimeout(this.#soon)
  }

  /** Reads what is there, without a stream, for as long as it costs next to nothing. */
  #readNow(): void {
    if (this.#socket !== undefined || this.#over) return
    for (let count = 0; count < MOST_READS && this.#holds === 0 && !this.#eof; count++) {
      const length = readThere(this.#fd, this.#buffer)
      if (length === undefined) return
      if (length === 0) this.#finish(true)
      else this.#take(length)
    }
  }

  #take(length: number): void {
    this.#chunks++
    this.#onChunk(this.#buffer.subarray(0, length))
  }

  #stream(): void {
    clearTimeout(this.#soon)
    if (this.#socket !== undefined || this.#over || this.#eof) return
    const callback = (length: number) => {
      this.#take(length)
      return true
    }
    // the types know `onread` for connections only
    const options = { fd: this.#fd, readable: true, writable: false, onread: { buffer: this.#buffer, callback } }
    this.#socket = new Socket(options as SocketConstructorOpts)
    this.#socket.on('end', () => this.#finish(true))
    this.#socket.on('error', () => this.#finish(true))
    this.#socket.on('close', () => {
      this.#finish(true)
      this.#close()
    })
    if (this.#holds > 0) this.#socket.pause()
  }

  /** A timer that is due comes before the reads that are due; so it waits for these too. */
  #endedWithin(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(() => setImmediate(resolve), ms)
      void this.ended.then(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #finish(eof: boolean): void {
    this.#eof ||= eof
    this.#done()
  }
}

/** How many bytes were read; 0 at the end of the pipe, nothing where none are there yet. */
function readThere(fd: number, buffer: Buffer): number | undefined {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return readSync(fd, buffer)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? undefined : 0
  } finally {
    Error.stackTraceLimit = limit
  }
}
