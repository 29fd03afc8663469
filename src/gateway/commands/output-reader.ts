import { Socket, type SocketConstructorOpts } from 'node:net'

/** Output and the end of a pipe come in two turns of the event loop. */
const LEAST_TURNS = 3

/** One buffer for all readers: what is read is handled before the next read. */
export function sharedReadBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(65_536)
}

/** Reads a pipe until its end or until told to stop; its descriptor is never touched after that. */
export class OutputReader {
  readonly #socket: Socket
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
  #chunks = 0
  #holds = 0

  /** `onChunk` gets bytes that are valid during the call only. */
  constructor(fd: number, options: { buffer: Buffer; onChunk: (chunk: Buffer) => void }) {
    const callback = (length: number) => {
      this.#chunks++
      options.onChunk(options.buffer.subarray(0, length))
      return true
    }
    // the types know `onread` for connections only
    const socketOptions = { fd, readable: true, writable: false, onread: { buffer: options.buffer, callback } }
    this.#socket = new Socket(socketOptions as SocketConstructorOpts)
    this.#socket.on('end', () => this.#finish(true))
    this.#socket.on('error', () => this.#finish(true))
    this.#socket.on('close', () => {
      this.#finish(true)
      this.#close()
    })
  }

  /** Whether every writer is gone. */
  get eof(): boolean {
    return this.#eof
  }

  /** Stops reading until as many `resume` calls have come: the writer waits meanwhile. */
  pause(): void {
    if (this.#holds++ === 0) this.#socket.pause()
  }

  resume(): void {
    if (--this.#holds === 0 && !this.#socket.destroyed) this.#socket.resume()
  }

  /**
   * Reads on after the command's exit: to the end, or until it was quiet for `quietMs`, `maxMs` at most. Time counts only where
   * this process had turns to read in: busy with other commands, it would take what waits in the pipe for nothing.
   */
  async drain(limits: { quietMs: number; maxMs: number }): Promise<void> {
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
    this.#socket.destroy()
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
