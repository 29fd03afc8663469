import type { Excerpt } from '../gateway/protocol.ts'
import { count, formatBytes } from './units.ts'

const MAX_DROPPED = 200

/** Output as a model reads it; where something was left out, a line says how much, where it is and how to read on. */
export function excerptText(excerpt: Excerpt, options: { fromStart: boolean } = { fromStart: true }): string {
  if (excerpt.omittedBytes === 0) return withoutFinalNewline(`${excerpt.head}${excerpt.tail}`)
  const whole = atLineEnd(excerpt)
  const parts = [withoutFinalNewline(whole.head), omission(whole, options.fromStart), withoutFinalNewline(whole.tail)]
  return parts.filter(part => part !== '').join('\n')
}

/** Without the beginning of a line that was cut off, unless that is long or all there is. */
function atLineEnd(excerpt: Excerpt): Excerpt {
  const end = excerpt.head.lastIndexOf('\n') + 1
  const rest = excerpt.head.slice(end)
  if (end === 0 || rest.length > MAX_DROPPED) return excerpt
  return { ...excerpt, head: excerpt.head.slice(0, end), omittedBytes: excerpt.omittedBytes + Buffer.byteLength(rest) }
}

function omission(excerpt: Excerpt, fromStart: boolean): string {
  const before = lineCount(excerpt.head) - (excerpt.head.endsWith('\n') || excerpt.head === '' ? 0 : 1)
  const lines = Math.max(0, excerpt.totalLines - before - lineCount(excerpt.tail))
  const omitted =
    lines === 0 ? formatBytes(excerpt.omittedBytes) : `${count(lines, 'line')} (${formatBytes(excerpt.omittedBytes)})`
  return `[… ${omitted} omitted; ${whereTheRestIs(excerpt, fromStart ? before + 1 : undefined)}]`
}

/** The line to read on from is known only where the text begins with the log. */
function whereTheRestIs(excerpt: Excerpt, line: number | undefined): string {
  const all = `${formatBytes(excerpt.totalBytes)}, ${count(excerpt.totalLines, 'line')}`
  if (excerpt.log === undefined) return `not kept in a log (${all} in all)`
  const cut =
    excerpt.logTruncatedAt === undefined ? '' : `, of which the log holds the first ${formatBytes(excerpt.logTruncatedAt)}`
  const place = line === undefined ? '' : `, "offset": ${line}`
  const size = line === undefined ? '' : ` (${all}${cut})`
  return `full log: ${excerpt.log}${size}; read on with Read {"file_path": ${JSON.stringify(excerpt.log)}${place}}, or search it with Grep`
}

function lineCount(text: string): number {
  const body = withoutFinalNewline(text)
  return body === '' ? 0 : body.split('\n').length
}

function withoutFinalNewline(text: string): string {
  return text.replace(/\n+$/, '')
}
