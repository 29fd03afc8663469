/** Longest line on the wire, its newline included. */
export const MAX_LINE_BYTES = 32 * 1024

/** JSON text in ASCII alone: every other UTF-16 unit becomes a `\u` escape, so that no terminal or decoder can harm it. */
export function asciiJson(value: unknown): string {
  return toAscii(JSON.stringify(value))
}

/** JSON text with every unit beyond ASCII as an escape. */
export function toAscii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, escapeUnit)
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * `text` cut into JSON string literals of at most `maxBytes` each, in order; their parsed values joined give `text` again.
 * A cut may fall between the two halves of a surrogate pair, which the escapes survive.
 */
export function asciiPieces(text: string, maxBytes: number): string[] {
  const pieces: string[] = []
  let at = 0
  let size = maxBytes - 2
  while (at < text.length) {
    const literal = asciiJson(text.slice(at, at + size))
    if (literal.length > maxBytes) {
      size = Math.max(1, Math.floor((size * maxBytes) / literal.length) - 8)
      continue
    }
    pieces.push(literal)
    at += size
    size = Math.min(maxBytes - 2, Math.ceil(size * 1.5))
  }
  return pieces
}

/** Where a reader puts what it found. */
export interface FrameSink {
  /** A line without its line end; the answer is the number of raw bytes that follow it as its body. */
  line(text: string): number
  /** The body that the last line announced. */
  body(bytes: Buffer): void
}

/** Splits a byte stream, however it was cut, into lines and the raw bodies that some of them announce. */
export class FrameReader {
  readonly #sink: FrameSink
  readonly #maxLine: number
  #held: Buffer[] = []
  #heldBytes = 0
  #bodyBytes = 0
  #tooLong = false
  #stopped = false
  /** Lines that were dropped because they were longer than allowed. */
  overlong = 0

  constructor(sink: FrameSink, maxLine = MAX_LINE_BYTES) {
    this.#sink = sink
    this.#maxLine = maxLine
  }

  /** Takes the next bytes; what the sink throws comes out here, and nothing more is read after `stop`. */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#stopped) {
      at = this.#bodyBytes > 0 ? this.#pushBody(chunk, at) : this.#pushLine(chunk, at)
    }
  }

  stop(): void {
    this.#stopped = true
    this.#held = []
  }

  #pushBody(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#bodyBytes - this.#heldBytes)
    this.#hold(chunk.subarray(at, end))
    if (this.#heldBytes === this.#bodyBytes) {
      this.#bodyBytes = 0
      this.#sink.body(this.#release())
    }
    return end
  }

  #pushLine(chunk: Buffer, at: number): number {
    const newline = chunk.indexOf(10, at)
    const end = newline === -1 ? chunk.length : newline
    if (this.#heldBytes + end - at >= this.#maxLine) {
      this.#tooLong = true
      this.#release()
    }
    if (!this.#tooLong && end > at) this.#hold(chunk.subarray(at, end))
    if (newline === -1) return end
    this.#endLine()
    return newline + 1
  }

  #endLine(): void {
    if (this.#tooLong) {
      this.#tooLong = false
      this.overlong++
      return
    }
    const text = this.#release().toString('latin1').trim()
    if (text === '') return
    const bytes = this.#sink.line(text)
    if (!Number.isSafeInteger(bytes) || bytes < 0) throw new RangeError(`A body can't have ${bytes} bytes`)
    this.#bodyBytes = bytes
  }

  #hold(part: Buffer): void {
    this.#held.push(part)
    this.#heldBytes += part.length
  }

  #release(): Buffer {
    const bytes = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    return bytes
  }
}
