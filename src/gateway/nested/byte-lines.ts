/** Bytes kept of each end of a line that is too long. */
const KEPT = 1024

export interface LineSink {
  /** A line without its line end. */
  line(text: string): void
  /** A line over the bound, which was not kept: its beginning, its end and how long it was. */
  overlong(head: string, tail: string, bytes: number): void
}

/** Cuts a byte stream into lines of UTF-8, in time and memory linear in their length; what is over the bound is dropped as it comes. */
export class ByteLines {
  readonly #sink: LineSink
  readonly #maxBytes: number
  #held: Buffer[] = []
  #bytes = 0
  #head: Buffer | undefined
  #tail: Buffer = Buffer.alloc(0)

  constructor(sink: LineSink, maxBytes: number) {
    this.#sink = sink
    this.#maxBytes = maxBytes
  }

  push(chunk: Buffer): void {
    let at = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, at)) {
      this.#add(chunk.subarray(at, end))
      this.#endLine()
      at = end + 1
    }
    if (at < chunk.length) this.#add(chunk.subarray(at))
  }

  /** Gives what stands after the last line end. */
  end(): void {
    if (this.#bytes > 0) this.#endLine()
  }

  #add(part: Buffer): void {
    this.#bytes += part.length
    if (this.#head === undefined) {
      this.#held.push(part)
      if (this.#bytes > this.#maxBytes) this.#giveUp()
    } else this.#tail = Buffer.concat([this.#tail, part.subarray(-KEPT)]).subarray(-KEPT)
  }

  #giveUp(): void {
    const held = Buffer.concat(this.#held)
    this.#held = []
    this.#head = Buffer.from(held.subarray(0, KEPT))
    this.#tail = Buffer.from(held.subarray(-KEPT))
  }

  #endLine(): void {
    const [held, head, tail, bytes] = [this.#held, this.#head, this.#tail, this.#bytes]
    this.#held = []
    this.#bytes = 0
    this.#head = undefined
    if (head !== undefined) this.#sink.overlong(head.toString('utf8'), tail.toString('utf8'), bytes)
    else this.#sink.line((held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held)).toString('utf8'))
  }
}
