/** The ends of lines of a text: each `\n` of the normal form by its own spelling. */
export interface LineEnds {
  /** Text with every end of line as `\n`. */
  text: string
  /** The spelling of the n-th end of line; one string when all are alike. */
  ends: string | string[]
}

/** Brings CRLF (and lone CR, in a text without any LF) to `\n`, remembering how each was spelled. */
export function normalise(raw: string): LineEnds {
  if (!raw.includes('\r')) return { text: raw, ends: '\n' }
  if (!raw.includes('\n')) return { text: raw.replaceAll('\r', '\n'), ends: '\r' }
  const text = raw.replaceAll('\r\n', '\n')
  const crlf = raw.length - text.length
  if (crlf === 0) return { text, ends: '\n' }
  const ends: string[] = []
  for (let at = raw.indexOf('\n'); at !== -1; at = raw.indexOf('\n', at + 1)) ends.push(raw[at - 1] === '\r' ? '\r\n' : '\n')
  return { text, ends: crlf === ends.length ? '\r\n' : ends }
}

/** The opposite of `normalise`. */
export function restore({ text, ends }: LineEnds): string {
  if (typeof ends === 'string') return ends === '\n' ? text : text.replaceAll('\n', ends)
  let next = 0
  return text.replace(/\n/g, () => ends[next++] ?? '\n')
}

/** Number of `\n` in `text` from `from` up to `to`. */
export function countNewlines(text: string, from = 0, to = text.length): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** How many lines a text has: a last line without an end counts. */
export function lineCount(text: string): number {
  return countNewlines(text) + (text === '' || text.endsWith('\n') ? 0 : 1)
}

/** The spelling that most ends of lines have. */
export function dominant(ends: string | readonly string[]): string {
  if (typeof ends === 'string') return ends
  return ends.filter(end => end === '\r\n').length * 2 > ends.length ? '\r\n' : '\n'
}
