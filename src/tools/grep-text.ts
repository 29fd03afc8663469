import type { GrepLine, GrepResult } from '../gateway/protocol.ts'
import { compose } from './compose.ts'
import { shownPath } from './relative.ts'
import { count } from './units.ts'

/** What the caller asked for, as far as the text depends on it. */
export interface GrepView {
  pattern: string
  workdir: string
  /** Entries that were skipped before these. */
  offset: number
  lineNumbers: boolean
}

/** Text of one answer, in characters; the rest is a further call away. */
const MAX_CHARS = 60_000

/** What was found, as ripgrep writes it, with how to go on where there is more. */
export function grepText(result: GrepResult, view: GrepView): string {
  const entries = entriesOf(result, view)
  if (entries.length === 0) return compose(nothing(result, view), result.notices)
  const shown = fitting(entries)
  const gaps = result.lines.slice(0, shown.length).filter(line => line.kind === 'gap').length
  const more = result.truncated || shown.length < entries.length
  const end = view.offset + shown.length - gaps
  const where = more ? `${rangeText(result, view.offset + 1, end)}; more follow: offset ${end}` : total(result)
  return compose(shown.join('\n'), [where, ...result.notices])
}

function rangeText({ mode, totals }: GrepResult, first: number, last: number): string {
  const unit = mode === 'content' ? 'lines' : 'files'
  return `${unit} ${first}-${last}${totals === undefined ? '' : ` of ${totals.files}`}`
}

function entriesOf(result: GrepResult, view: GrepView): string[] {
  const shown = (path: string): string => shownPath(path, view.workdir)
  if (result.mode === 'files_with_matches') return result.files.map(shown)
  if (result.mode === 'count') return result.counts.map(entry => `${shown(entry.path)}:${entry.count}`)
  return result.lines.map(line => lineText(line, line.path === result.path ? undefined : shown(line.path), view.lineNumbers))
}

function lineText(line: GrepLine, path: string | undefined, lineNumbers: boolean): string {
  if (line.kind === 'gap') return '--'
  const mark = line.kind === 'match' ? ':' : '-'
  const place = [...(path === undefined ? [] : [path]), ...(lineNumbers ? [line.line] : [])]
  return [...place, line.text].join(mark)
}

function fitting(entries: readonly string[]): readonly string[] {
  let chars = 0
  const end = entries.findIndex(entry => {
    chars += entry.length + 1
    return chars > MAX_CHARS
  })
  return end === -1 ? entries : entries.slice(0, Math.max(1, end))
}

function nothing(result: GrepResult, { pattern, offset }: GrepView): string {
  if (offset > 0) return `No more matches of ${JSON.stringify(pattern)} in ${result.path} after offset ${offset}.`
  const none = result.notices.length === 0 ? 'No matches of' : 'No matches were found so far of'
  return `${none} ${JSON.stringify(pattern)} in ${result.path}.`
}

function total({ mode, files, counts, totals }: GrepResult): string | undefined {
  if (mode === 'files_with_matches') return count(totals?.files ?? files.length, 'file')
  if (mode === 'content') return undefined
  const matches = totals?.matches ?? counts.reduce((sum, entry) => sum + entry.count, 0)
  return `${count(matches, 'match')} in ${count(totals?.files ?? counts.length, 'file')}`
}
