import { type ParseError, visit } from 'jsonc-parser/lib/esm/main.js'

/** A text in JSON. */
interface Literal {
  start: number
  end: number
  value: string
}

/** Where the source of a cell lies in the file's text. */
export interface SourcePlace {
  /** Index of the cell. */
  cell: number
  start: number
  end: number
  /** Its lines, where it is a list. */
  lines: Literal[] | undefined
}

/** Finds the source of each cell in the text of a valid notebook. */
export function findSources(text: string): SourcePlace[] {
  const found: SourcePlace[] = []
  let open: SourcePlace | undefined
  visit(text, {
    onArrayBegin(offset, _length, _line, _column, path) {
      const cell = cellOf(path())
      if (cell === undefined) return
      open = { cell, start: offset, end: offset, lines: [] }
    },
    onArrayEnd(offset, length) {
      if (open === undefined) return
      found.push({ ...open, end: offset + length })
      open = undefined
    },
    onLiteralValue(value, offset, length, _line, _column, path) {
      if (typeof value !== 'string') return
      const literal = { start: offset, end: offset + length, value }
      if (open !== undefined) open.lines?.push(literal)
      else {
        const cell = cellOf(path())
        if (cell !== undefined) found.push({ cell, start: literal.start, end: literal.end, lines: undefined })
      }
    },
    onError(error) {
      throw new Error(`unexpected JSON (${error satisfies ParseError['error']})`)
    },
  })
  return found
}

function cellOf(path: (string | number)[]): number | undefined {
  const [cells, index, source] = path
  return path.length === 3 && cells === 'cells' && source === 'source' && typeof index === 'number' ? index : undefined
}

/** A source as JSON, in the form that the place has now: list or text, spaces, escapes; lines that stay keep their own. */
export function writeSource(text: string, place: SourcePlace, source: string): string {
  const write = writerFor(text)
  if (place.lines === undefined) return write(source)
  const known = new Map(place.lines.map(({ start, end, value }) => [value, text.slice(start, end)]))
  const lines = source.match(/[^\n]*\n|[^\n]+$/g) ?? []
  if (lines.length === 0) return '[]'
  const { open, between, close } = spacesOf(text, place, place.lines)
  return `[${open}${lines.map(line => known.get(line) ?? write(line)).join(between)}${close}]`
}

/** Writes texts as JSON: with escapes for all but ASCII where the file has it so. */
function writerFor(text: string): (value: string) => string {
  const ascii = !/[^\x00-\x7f]/.test(text) && /\\u(?!00[0-7])[0-9a-f]{4}/i.test(text)
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return value => (ascii ? JSON.stringify(value).replace(/[^\x00-\x7f]/g, escaped) : JSON.stringify(value))
}

function spacesOf(
  text: string,
  { start, end }: SourcePlace,
  lines: readonly Literal[],
): { open: string; between: string; close: string } {
  const [first, second] = lines
  const last = lines.at(-1)
  if (first === undefined || last === undefined) return newSpaces(text, start)
  const open = text.slice(start + 1, first.start)
  const between = second === undefined ? `,${open === '' ? spaceAfterComma(text) : open}` : text.slice(first.end, second.start)
  return { open, between, close: text.slice(last.end, end - 1) }
}

/** Spaces for a list that was empty, as the lines around it are indented. */
function newSpaces(text: string, start: number): { open: string; between: string; close: string } {
  const lineStart = text.lastIndexOf('\n', start) + 1
  const unit = /\n([ \t]+)/.exec(text)?.[1]
  if (unit === undefined) return { open: '', between: `,${spaceAfterComma(text)}`, close: '' }
  const [indent = ''] = /^[ \t]*/.exec(text.slice(lineStart, start)) ?? []
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  return { open: `${end}${indent}${unit}`, between: `,${end}${indent}${unit}`, close: `${end}${indent}` }
}

const spaceAfterComma = (text: string): string => (/[^\\]", "/.test(text) ? ' ' : '')
