import { isUtf8 } from 'node:buffer'
import { wholeCodePoints } from './encoding.ts'

const LF = 10
const CR = 13

export interface LineRange {
  /** Number of the first line that is kept, from 1. */
  first: number
  limit: number
  maxBytes: number
  maxLineBytes: number
  separator: 'lf' | 'cr'
}

/** Picks a range of lines out of chunks of bytes; of a line longer than the limit it keeps no more than its start. */
export class LineCollector {
  readonly lines: Buffer[] = []
  readonly cutLines: number[] = []
  byteLimited = false
  /** Lines that ended so far; after `finish` all lines that were seen. */
  count = 0
  /** Lines that ended with a terminator, and how many of these with CRLF. */
  terminated = 0
  crlf = 0
  /** Bytes of the line that has begun, so far. */
  lineBytes = 0
  /** The range is complete and at least one more line follows. */
  more = false

  readonly #range: LineRange
  readonly #separator: number
  #bytes = 0
  #kept: Buffer[] = []
  #keptBytes = 0
  /** The current line has begun; its length before this chunk is irrelevant, its last byte is not (CRLF across chunks). */
  #open = false
  #last = 0

  constructor(range: LineRange) {
    this.#range = range
    this.#separator = range.separator === 'cr' ? CR : LF
  }

  /** All lines of the range are there; what follows only needs counting. */
  get full(): boolean {
    return this.byteLimited || this.lines.length >= this.#range.limit
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      const end = chunk.indexOf(this.#separator, at)
      const stop = end === -1 ? chunk.length : end
      if (this.#wanted()) this.#keep(chunk, at, stop)
      else if (this.full) this.more = true
      if (end === -1) {
        this.#open = true
        this.lineBytes += chunk.length - at
        this.#last = chunk[chunk.length - 1]!
        return
      }
      const before = end > at ? chunk[end - 1] : this.#open ? this.#last : 0
      this.#end(before === CR && this.#separator === LF)
      this.terminated++
      at = end + 1
    }
  }

  /** Ends a last line that has no terminator. */
  finish(): void {
    if (this.#open) this.#end(false)
    this.#open = false
  }

  #wanted(): boolean {
    return this.count + 1 >= this.#range.first && !this.full
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    const room = this.#range.maxLineBytes + 2 - this.#keptBytes
    if (room <= 0 || to <= from) return
    const piece = Buffer.from(chunk.subarray(from, Math.min(to, from + room)))
    this.#kept.push(piece)
    this.#keptBytes += piece.length
  }

  #end(crlf: boolean): void {
    if (crlf) this.crlf++
    if (this.#wanted()) this.#take(crlf)
    this.count++
    this.lineBytes = 0
    this.#open = false
    this.#kept = []
    this.#keptBytes = 0
  }

  #take(crlf: boolean): void {
    const { maxLineBytes, maxBytes } = this.#range
    const whole = this.#kept.length === 1 ? this.#kept[0]! : Buffer.concat(this.#kept)
    let line = crlf && whole.length <= maxLineBytes + 1 && whole[whole.length - 1] === CR ? whole.subarray(0, -1) : whole
    const room = this.lines.length === 0 ? Math.min(maxLineBytes, maxBytes) : maxLineBytes
    const cut = line.length > room
    if (cut) line = cutAtCodePoint(line, room)
    if (this.lines.length > 0 && this.#bytes + line.length + 1 > maxBytes) {
      this.byteLimited = true
      this.more = true
      return
    }
    if (cut) this.cutLines.push(this.count + 1)
    this.#bytes += line.length + 1
    this.lines.push(line)
  }
}

function cutAtCodePoint(line: Buffer, length: number): Buffer {
  const start = line.subarray(0, length)
  const whole = start.subarray(0, wholeCodePoints(start))
  return isUtf8(whole) ? whole : start
}
