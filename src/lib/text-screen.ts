import { unfinishedTail } from './text.ts'
import { EscapeSkipper } from './text-escapes.ts'

const LF = 10
const CR = 13
const BS = 8
const ESC = 27
/** An unfinished line longer than this is given on as it is; a terminal would have wrapped it long before. */
const MAX_LINE = 65_536

/** Turns what a command writes into what a terminal would show of it, line by line: escapes gone, overwrites done, CRLF as LF. */
export class TextScreen {
  readonly #emit: (bytes: Buffer) => void
  readonly #escapes = new EscapeSkipper()
  /** The unfinished line, as bytes while nothing was overwritten in it … */
  #plain: Buffer[] = []
  #plainLength = 0
  /** … and as one string per column afterwards. */
  #cells: string[] | undefined
  #column = 0
  #returned = false
  #partial: Buffer = Buffer.alloc(0)

  /** `emit` gets finished lines; the bytes it gets are valid during the call only. */
  constructor(emit: (bytes: Buffer) => void) {
    this.#emit = emit
  }

  push(chunk: Buffer): void {
    if (this.#returned && !this.#cells && chunk[0] === LF) this.#returned = false
    const simple = this.#cells || this.#returned || this.#escapes.inside ? undefined : withoutControls(chunk)
    if (!simple) this.#pushSlowly(chunk)
    else {
      this.#pushPlain(simple)
      this.#returned = chunk[chunk.length - 1] === CR
    }
  }

  /** Gives on the line that has no end yet. */
  end(): void {
    this.#flushLine()
  }

  #pushPlain(chunk: Buffer): void {
    const end = chunk.lastIndexOf(LF) + 1
    if (end > 0) {
      this.#flushLine()
      this.#emit(end === chunk.length ? chunk : chunk.subarray(0, end))
    }
    if (end < chunk.length) this.#append(end === 0 ? chunk : chunk.subarray(end))
  }

  #pushSlowly(chunk: Buffer): void {
    let from = 0
    while (from < chunk.length) {
      if (this.#escapes.inside) {
        from = this.#escapes.skip(chunk, from)
        if (!this.#escapes.inside) this.#control(this.#escapes.final, this.#escapes.argument)
        continue
      }
      const to = nextControl(chunk, from)
      if (to > from) this.#append(chunk.subarray(from, to))
      if (to < chunk.length) this.#single(chunk[to] as number)
      from = to + 1
    }
  }

  #single(byte: number): void {
    if (byte === LF) this.#lineFeed()
    else if (byte === CR) this.#returned = true
    else if (byte === BS) this.#moveTo(this.#current() - 1)
    else this.#escapes.begin()
  }

  #lineFeed(): void {
    this.#flushLine()
    this.#emit(Buffer.from('\n'))
  }

  /** What a cursor movement or an erase within the line does; all other sequences show nothing. */
  #control(final: string, argument: number | undefined): void {
    if (final === 'K') this.#erase(argument ?? 0)
    else if (final === 'D') this.#moveTo(this.#current() - (argument || 1))
    else if (final === 'C') this.#moveTo(this.#current() + (argument || 1))
    else if (final === 'G') this.#moveTo((argument || 1) - 1)
  }

  #erase(what: number): void {
    const cells = this.#toCells()
    if (what === 2) cells.fill(' ')
    else if (what === 1) cells.fill(' ', 0, this.#column + 1)
    else cells.length = Math.min(cells.length, this.#column)
  }

  #current(): number {
    this.#toCells()
    return this.#column
  }

  #moveTo(column: number): void {
    this.#toCells()
    this.#column = Math.min(Math.max(0, column), 4096)
  }

  #append(bytes: Buffer): void {
    if (this.#cells || this.#returned) {
      this.#overwrite(bytes)
      return
    }
    this.#plain.push(Buffer.from(bytes))
    this.#plainLength += bytes.length
    if (this.#plainLength > MAX_LINE) this.#flushLine()
    else if (this.#plain.length > 256) this.#plain = [Buffer.concat(this.#plain)]
  }

  #overwrite(bytes: Buffer): void {
    const cells = this.#toCells()
    const all = this.#partial.length > 0 ? Buffer.concat([this.#partial, bytes]) : bytes
    const end = all.length - unfinishedTail(all)
    this.#partial = Buffer.from(all.subarray(end))
    while (cells.length < this.#column) cells.push(' ')
    for (const character of all.toString('utf8', 0, end)) cells[this.#column++] = character
    if (cells.length > MAX_LINE) this.#flushLine()
  }

  #toCells(): string[] {
    if (!this.#cells) {
      this.#cells = [...Buffer.concat(this.#plain).toString('utf8')]
      this.#column = this.#cells.length
      this.#plain = []
      this.#plainLength = 0
    }
    if (this.#returned) this.#column = 0
    this.#returned = false
    return this.#cells
  }

  #flushLine(): void {
    if (this.#cells) this.#emit(Buffer.concat([Buffer.from(this.#cells.join('')), this.#partial]))
    else for (const part of this.#plain) this.#emit(part)
    this.#plain = []
    this.#plainLength = 0
    this.#cells = undefined
    this.#column = 0
    this.#returned = false
    this.#partial = Buffer.alloc(0)
  }
}

/** A chunk without its colours and with LF for CRLF, but for a CR at its end; nothing where it needs a closer look. */
function withoutControls(chunk: Buffer): Buffer | undefined {
  const [escapes, returns] = [chunk.includes(ESC), chunk.includes(CR)]
  if (chunk.includes(BS)) return undefined
  if (!escapes && !returns) return chunk
  let text = chunk.toString('latin1')
  if (escapes) text = text.replace(/\x1b\[[0-9;]*m/g, '')
  if (returns) text = text.replaceAll('\r\n', '\n')
  const last = text.length - 1
  if (text[last] === '\r' && chunk[chunk.length - 1] === CR) text = text.slice(0, last)
  return /[\x1b\r]/.test(text) ? undefined : Buffer.from(text, 'latin1')
}

function nextControl(chunk: Buffer, from: number): number {
  for (let i = from; i < chunk.length; i++) {
    const byte = chunk[i] as number
    if (byte < 32 && (byte === LF || byte === CR || byte === BS || byte === ESC)) return i
  }
  return chunk.length
}
