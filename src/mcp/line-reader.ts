const NEWLINE = 0x0a

export interface LineReaderOptions {
  /** Longest line in bytes; a longer one is skipped to its end and reported once. */
  maxBytes: number
  onLine(line: Buffer): void
  onTooLong(bytes: number): void
}

/** Cuts a byte stream into lines. A line is put together once, however many chunks it came in. */
export class LineReader {
  readonly #options: LineReaderOptions
  #chunks: Buffer[] = []
  #length = 0
  #skipping = false

  constructor(options: LineReaderOptions) {
    this.#options = options
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end))
      this.#finish()
      start = end + 1
    }
    if (start < chunk.length) this.#add(chunk.subarray(start))
  }

  /** The stream has ended: what has no newline yet counts as a line. */
  end(): void {
    if (this.#length > 0) this.#finish()
  }

  #add(part: Buffer): void {
    this.#length += part.length
    if (this.#skipping) return
    if (this.#length <= this.#options.maxBytes) {
      this.#chunks.push(part)
      return
    }
    this.#skipping = true
    this.#chunks = []
    this.#options.onTooLong(this.#length)
  }

  #finish(): void {
    const chunks = this.#chunks
    const skipped = this.#skipping
    this.#chunks = []
    this.#length = 0
    this.#skipping = false
    if (!skipped) this.#options.onLine(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
  }
}
