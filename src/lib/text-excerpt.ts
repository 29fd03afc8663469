import { cutAfter, unfinishedTail } from './text.ts'

/** What is left of a long text: its first and last bytes, decoded. */
export interface HeadAndTail {
  head: string
  /** Empty when nothing was omitted. */
  tail: string
  omittedBytes: number
}

/** The end of a line that was cut off is left out, unless it is longer. */
const MAX_LINE_END = 200
const NEWLINE = 0x0a

/** Keeps the first and last bytes of a stream of UTF-8 text within a bound, whatever its length. */
export class TextExcerpt {
  readonly #headBytes: number
  readonly #tailBytes: number
  #head: Buffer[] = []
  #headLength = 0
  #tail: Buffer[] = []
  #tailLength = 0
  #total = 0

  constructor(bounds: { headBytes: number; tailBytes: number }) {
    this.#headBytes = Math.max(0, bounds.headBytes)
    this.#tailBytes = Math.max(0, bounds.tailBytes)
  }

  /** Whether something was left out already: head and tail are full. */
  get overflowed(): boolean {
    return this.#total > this.#headBytes + this.#tailBytes
  }

  /** Takes the next bytes; they are copied, the caller may reuse its buffer. */
  push(bytes: Buffer): void {
    this.#total += bytes.length
    const room = this.#headBytes - this.#headLength
    if (room > 0) this.#pushHead(bytes.subarray(0, room))
    if (bytes.length > room) this.#pushTail(room > 0 ? bytes.subarray(room) : bytes)
  }

  /** Counts bytes that were left out before they got here. */
  skip(bytes: number): void {
    this.#total += bytes
    this.#tail = []
    this.#tailLength = 0
  }

  /** The text so far, cut at code points, the tail at the start of a line where one is near; invalid bytes become U+FFFD. */
  result(): HeadAndTail {
    const head = Buffer.concat(this.#head)
    const kept = Buffer.concat(this.#tail)
    if (this.#total <= this.#headBytes + this.#tailBytes && this.#total === head.length + kept.length) {
      return { head: Buffer.concat([head, kept]).toString('utf8'), tail: '', omittedBytes: 0 }
    }
    const end = head.length - unfinishedTail(head)
    const start = atLineStart(kept, cutAfter(kept, kept.length - this.#tailBytes))
    const shown = end + kept.length - start
    return {
      head: head.toString('utf8', 0, end),
      tail: kept.toString('utf8', start),
      omittedBytes: this.#total - shown,
    }
  }

  #pushHead(bytes: Buffer): void {
    this.#head.push(Buffer.from(bytes))
    this.#headLength += bytes.length
    if (this.#head.length > 64) this.#head = [Buffer.concat(this.#head)]
  }

  #pushTail(bytes: Buffer): void {
    // three bytes more than shown, so that a cut never has to guess what came before it
    const keep = this.#tailBytes + 3
    if (bytes.length >= keep) {
      this.#tail = [Buffer.from(bytes.subarray(bytes.length - keep))]
      this.#tailLength = keep
      return
    }
    this.#tail.push(Buffer.from(bytes))
    this.#tailLength += bytes.length
    if (this.#tailLength > keep * 2 + 65_536 || this.#tail.length > 256) {
      const all = Buffer.concat(this.#tail)
      const rest = all.subarray(Math.max(0, all.length - keep))
      this.#tail = [rest.length < all.length ? Buffer.from(rest) : all]
      this.#tailLength = rest.length
    }
  }
}

function atLineStart(bytes: Buffer, at: number): number {
  if (at === 0 || bytes[at - 1] === NEWLINE) return at
  const next = bytes.indexOf(NEWLINE, at) + 1
  return next === 0 || next - at > MAX_LINE_END || next === bytes.length ? at : next
}
