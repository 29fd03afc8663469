import { decodeLine, neededWindow, showLine } from './line-window.ts'

const NUL = 0
const LF = 10
const COLON = 58
const CR = 13
const BINARY = /^(.*): (?:WARNING: stopped searching binary file|binary file matches)/s
const BARE_BINARY = /^(?:WARNING: stopped searching binary file|binary file matches)/

export interface RecordSink {
  line(path: string, found: { line: number; text: string; kind: 'match' | 'context' }): void
  /** A file (undefined: the only one) that turned out to be binary. */
  binary(path: string | undefined): void
}

/**
 * Reads `rg --null --line-number --column --no-heading` as it arrives: `path NUL line:column:text` for a match, `path NUL line-text`
 * for context, `--` between groups. Of a long line only what is shown of it is ever held.
 */
export class RecordParser {
  readonly #sink: RecordSink
  readonly #maxLineBytes: number
  readonly #multiline: boolean
  #previous: { path: string; line: number; kind: 'match' | 'context' } = { path: '', line: 0, kind: 'context' }
  #pending: Buffer = Buffer.alloc(0)
  #current: { path: string; line: number; kind: 'match' | 'context'; column: number } | undefined
  #pieces: Buffer[] = []
  #pieceStart = 0
  #length = 0
  #last = 0
  #lastPath: { bytes: Buffer; text: string } = { bytes: Buffer.alloc(0), text: '' }

  constructor({ maxLineBytes, multiline = false }: { maxLineBytes: number; multiline?: boolean }, sink: RecordSink) {
    this.#maxLineBytes = maxLineBytes
    this.#multiline = multiline
    this.#sink = sink
  }

  push(chunk: Buffer): void {
    const bytes = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : chunk
    this.#pending = Buffer.alloc(0)
    let at = 0
    while (at < bytes.length) {
      if (this.#current !== undefined) {
        const end = bytes.indexOf(LF, at)
        this.#take(bytes, at, end === -1 ? bytes.length : end)
        if (end === -1) return
        this.#finishLine()
        at = end + 1
        continue
      }
      const next = this.#header(bytes, at)
      if (next === -1) {
        this.#pending = Buffer.from(bytes.subarray(at))
        return
      }
      at = next
    }
  }

  end(): void {
    if (this.#current !== undefined) this.#finishLine()
    else if (this.#pending.length > 0) this.#message(this.#pending)
    this.#pending = Buffer.alloc(0)
  }

  /** Reads what comes before a line's text; gives the offset after it, or −1 when it is not all there yet. */
  #header(bytes: Buffer, at: number): number {
    if (bytes[at] !== 47) {
      // Paths are absolute: this is a separator or a message.
      const end = bytes.indexOf(LF, at)
      if (end === -1) return -1
      this.#message(bytes.subarray(at, end))
      return end + 1
    }
    const nul = bytes.indexOf(NUL, at)
    const lineEnd = bytes.indexOf(LF, at)
    if (lineEnd !== -1 && (nul === -1 || lineEnd < nul) && this.#message(bytes.subarray(at, lineEnd))) return lineEnd + 1
    if (nul === -1) return -1
    let pos = nul + 1
    let line = 0
    for (; isDigit(bytes[pos]); pos++) line = line * 10 + bytes[pos]! - 48
    if (pos >= bytes.length) return -1
    let column = 0
    const kind = bytes[pos++] === COLON ? 'match' : 'context'
    if (kind === 'match') {
      for (; isDigit(bytes[pos]); pos++) column = column * 10 + bytes[pos]! - 48
      if (pos >= bytes.length) return -1
      pos++
    }
    const path = this.#path(bytes.subarray(at, nul))
    // In a match of several lines, the column of the later ones counts from elsewhere.
    const continues = this.#previous.path === path && this.#previous.line === line - 1 && this.#previous.kind === 'match'
    this.#previous = { path, line, kind }
    this.#current = { path, line, kind, column: this.#multiline && continues ? 0 : Math.max(0, column - 1) }
    return pos
  }

  #path(bytes: Buffer): string {
    if (!bytes.equals(this.#lastPath.bytes)) this.#lastPath = { bytes: Buffer.from(bytes), text: decodeLine(bytes) }
    return this.#lastPath.text
  }

  #message(line: Buffer): boolean {
    const text = decodeLine(line)
    const named = BINARY.exec(text)
    if (named !== null) this.#sink.binary(named[1])
    else if (BARE_BINARY.test(text)) this.#sink.binary(undefined)
    return named !== null
  }

  #take(bytes: Buffer, at: number, end: number): void {
    const { from, to } = neededWindow(this.#current!.column, this.#maxLineBytes)
    const begin = Math.max(at, at + from - this.#length)
    const stop = Math.min(end, at + to - this.#length)
    if (stop > begin) {
      if (this.#pieces.length === 0) this.#pieceStart = this.#length + begin - at
      this.#pieces.push(Buffer.from(bytes.subarray(begin, stop)))
    }
    if (end > at) this.#last = bytes[end - 1]!
    this.#length += end - at
  }

  #finishLine(): void {
    const { path, line, kind, column } = this.#current!
    let bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    let length = this.#length
    if (length > 0 && this.#last === CR) {
      if (this.#pieceStart + bytes.length === length) bytes = bytes.subarray(0, -1)
      length--
    }
    this.#sink.line(path, { line, kind, text: showLine({ bytes, start: this.#pieceStart, length, column }, this.#maxLineBytes) })
    this.#current = undefined
    this.#pieces = []
    this.#pieceStart = 0
    this.#length = 0
    this.#last = 0
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57
}
