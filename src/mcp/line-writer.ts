export interface LineSink {
  /** As a stream's `write`: calls back once the chunk has left this process, or with the error. */
  write(chunk: string, done: (error?: Error | null) => void): unknown
}

export interface LineWriterOptions {
  /** Bytes that may wait for a reader that does not read. */
  maxQueuedBytes: number
  /** Once, when the bound is passed or a write failed; nothing is written afterwards. */
  onBroken(reason: string): void
}

/** Writes one message a line, and gives up on a reader that lets too much wait. */
export class LineWriter {
  readonly #sink: LineSink
  readonly #options: LineWriterOptions
  #queued = 0
  #broken = false
  #idle: (() => void)[] = []

  constructor(sink: LineSink, options: LineWriterOptions) {
    this.#sink = sink
    this.#options = options
  }

  write(message: unknown): void {
    if (this.#broken) return
    const line = `${JSON.stringify(message)}\n`
    const bytes = Buffer.byteLength(line)
    if (this.#queued > 0 && this.#queued + bytes > this.#options.maxQueuedBytes) {
      this.#break(`the client does not read: ${this.#queued} bytes wait for it`)
      return
    }
    this.#queued += bytes
    this.#sink.write(line, error => {
      this.#queued -= bytes
      if (error) this.#break(error.message)
      if (this.#queued === 0) this.#release()
    })
  }

  /** Settles when everything written so far has left, or the writer broke. */
  drained(): Promise<void> {
    if (this.#broken || this.#queued === 0) return Promise.resolve()
    return new Promise(resolve => this.#idle.push(resolve))
  }

  #break(reason: string): void {
    if (this.#broken) return
    this.#broken = true
    this.#release()
    this.#options.onBroken(reason)
  }

  #release(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
