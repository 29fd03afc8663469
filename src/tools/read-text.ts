import type { ReadText } from '../gateway/protocol.ts'
import { compose } from './compose.ts'
import { numbered } from './numbered.ts'
import { count, formatBytes } from './units.ts'

const ENCODINGS: Record<ReadText['encoding'], string> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 LE',
  'utf-16be': 'UTF-16 BE',
  latin1: 'Latin-1',
}

const LINE_ENDS: Partial<Record<ReadText['eol'], string>> = {
  crlf: 'CRLF line ends',
  cr: 'CR line ends',
  mixed: 'mixed line ends',
}

/** Numbered lines, then where they stand in the file and what is unusual about it. */
export function readText(result: ReadText, offset: number | undefined, remark?: string): string {
  if (result.size === 0) return `[${result.path} is empty (0 bytes)]`
  if (result.lines.length === 0) return `[${pastTheEnd(result, offset)}]`
  const lines = result.lines.map((line, index) => numbered(result.firstLine + index, line))
  return compose(lines.join('\n'), [position(result), cutLines(result), format(result), remark])
}

function pastTheEnd({ path, totalLines, size }: ReadText, offset: number | undefined): string {
  const has = totalLines === undefined ? `is ${formatBytes(size)} long and ends before that` : `has ${count(totalLines, 'line')}`
  return `nothing at offset ${offset ?? 1}: ${path} ${has}`
}

function position(result: ReadText): string {
  const { firstLine, lines, totalLines, more } = result
  const last = firstLine + lines.length - 1
  const from = rangeText(firstLine, last)
  const of = totalLines === undefined ? '' : ` of ${totalLines}`
  if (!more) return firstLine < 0 ? from : `${from}${of}${totalLines === undefined ? ', to the end' : ''}`
  const limited = result.byteLimited ? ' (stopped by the size limit)' : ''
  return `${from}${of}${limited}; more follow from line ${last + 1}: read on with offset ${last + 1}`
}

/** Lines of a file whose length is not known are numbered from its end, the last one as -1. */
function rangeText(first: number, last: number): string {
  if (first < 0) return `lines ${first} to ${last}, counted from the end`
  return last === first ? `line ${last}` : `lines ${first}-${last}`
}

function cutLines({ cutLines: cut }: ReadText): string | undefined {
  if (cut.length === 0) return undefined
  const shown = cut.slice(0, 10).join(', ')
  const which = cut.length === 1 ? `line ${shown} is` : `lines ${shown}${cut.length > 10 ? ', …' : ''} are`
  return `${which} too long and cut; see the rest with Bash (cut -c) or Grep`
}

function format({ encoding, bom, eol }: ReadText): string | undefined {
  const named = encoding === 'utf-8' && !bom ? [] : [`${ENCODINGS[encoding]}${bom ? ' with a byte order mark' : ''}`]
  const ends = LINE_ENDS[eol]
  const unusual = [...named, ...(ends === undefined ? [] : [ends])]
  return unusual.length === 0 ? undefined : `${unusual.join(', ')}: Edit and Write keep that`
}
