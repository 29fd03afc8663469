import { countNewlines, dominant, type LineEnds } from './text-lines.ts'

/** Start offsets of all occurrences of `wanted` in `text`, none overlapping another. */
export function occurrences(text: string, wanted: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) found.push(at)
  return found
}

/** The text with each occurrence replaced (literally); untouched lines keep their own ends, new ones get those around them. */
export function splice(before: LineEnds, starts: readonly number[], change: { from: string; to: string }): LineEnds {
  const { from, to } = change
  const parts: string[] = []
  let done = 0
  for (const start of starts) {
    parts.push(before.text.slice(done, start), to)
    done = start + from.length
  }
  parts.push(before.text.slice(done))
  const text = parts.join('')
  return { text, ends: typeof before.ends === 'string' ? before.ends : spliceEnds(before, starts, change) }
}

function spliceEnds(before: LineEnds, starts: readonly number[], { from, to }: { from: string; to: string }): string[] {
  const ends = before.ends as string[]
  const fallback = dominant(ends)
  const same = commonEdges(from, to)
  const removed = countNewlines(from, same.prefix, from.length - same.suffix)
  const added = countNewlines(to, same.prefix, to.length - same.suffix)
  const prefixEnds = countNewlines(from, 0, same.prefix)
  const result: string[] = []
  let copied = 0
  let seen = 0
  let scanned = 0
  for (const start of starts) {
    seen += countNewlines(before.text, scanned, start)
    scanned = start
    const changeAt = seen + prefixEnds
    while (copied < changeAt) result.push(ends[copied++]!)
    const around = ends[changeAt] ?? ends[changeAt - 1] ?? fallback
    for (let i = 0; i < added; i++) result.push(i < removed ? ends[changeAt + i]! : (result[result.length - 1] ?? around))
    copied += removed
  }
  while (copied < ends.length) result.push(ends[copied++]!)
  return result
}

/** Lengths of the common start and the common end of two texts, not overlapping. */
function commonEdges(a: string, b: string): { prefix: number; suffix: number } {
  const shorter = Math.min(a.length, b.length)
  let prefix = 0
  while (prefix < shorter && a[prefix] === b[prefix]) prefix++
  let suffix = 0
  while (suffix < shorter - prefix && a[a.length - 1 - suffix] === b[b.length - 1 - suffix]) suffix++
  return { prefix, suffix }
}
