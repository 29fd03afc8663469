import { distance } from 'fastest-levenshtein'

const MAX_LINES = 50_000
const MAX_COMPARED = 4_000
const MAX_LENGTH = 200
const EXCERPT_LINES = 8

/** The place in a text that is most like one that was searched in vain. */
export interface Nearest {
  /** Its first and last line, from 1. */
  from: number
  to: number
  /** What differs, as a phrase; undefined when it is merely similar. */
  differs: string | undefined
  excerpt: string
}

const VIEWS: readonly { differs: string; view: (line: string) => string }[] = [
  { differs: 'whitespace at the end of lines', view: line => line.trimEnd() },
  { differs: 'indentation (spaces or tabs)', view: line => line.trim() },
  { differs: 'whitespace', view: squeeze },
  { differs: 'typographic quotes, dashes or spaces', view: plain },
  { differs: 'upper and lower case', view: line => line.toLowerCase() },
  { differs: 'whitespace and typographic characters', view: line => squeeze(plain(line)) },
  { differs: 'whitespace and case', view: line => squeeze(plain(line)).toLowerCase() },
]

/** Looks for `wanted` in `text` with whitespace, quotes and case forgiven, then for the most similar lines. */
export function nearest(text: string, wanted: string): Nearest | undefined {
  const lines = text.split('\n', MAX_LINES)
  const target = trimBlank(wanted.split('\n'))
  if (target.length === 0) return undefined
  for (const { differs, view } of VIEWS) {
    const at = findWindow(lines.map(view), target.map(view))
    if (at !== -1) return place(lines, at, { length: target.length, differs })
  }
  const at = similarWindow(lines, target)
  return at === undefined ? undefined : place(lines, at, { length: target.length, differs: undefined })
}

function findWindow(lines: readonly string[], target: readonly string[]): number {
  if (target.every(line => line === '')) return -1
  const last = target.length - 1
  for (let at = 0; at + last < lines.length; at++) {
    const matches = target.every((line, i) => {
      const here = lines[at + i]!
      if (last === 0) return here.includes(line)
      // The searched text may begin and end within a line.
      return i === 0 ? here.endsWith(line) : i === last ? here.startsWith(line) : here === line
    })
    if (matches) return at
  }
  return -1
}

/** The window that shares most lines with the target; without any, the line that resembles its longest line. */
function similarWindow(lines: readonly string[], target: readonly string[]): number | undefined {
  const positions = new Map<string, number>()
  target.forEach((line, i) => {
    if (line.trim().length > 3) positions.set(line.trim(), i)
  })
  const votes = new Map<number, number>()
  lines.forEach((line, at) => {
    const i = positions.get(line.trim())
    if (i !== undefined) votes.set(at - i, (votes.get(at - i) ?? 0) + 1)
  })
  let best: { at: number; votes: number } | undefined
  for (const [at, count] of votes) if (best === undefined || count > best.votes) best = { at, votes: count }
  if (best !== undefined && (best.votes > 1 || target.length === 1)) return Math.max(0, best.at)
  return similarLine(lines, target) ?? (best === undefined ? undefined : Math.max(0, best.at))
}

function similarLine(lines: readonly string[], target: readonly string[]): number | undefined {
  const index = target.reduce((longest, line, i) => (line.trim().length > target[longest]!.trim().length ? i : longest), 0)
  const wanted = plain(target[index]!.trim()).slice(0, MAX_LENGTH)
  if (wanted.length < 4) return undefined
  let best: { at: number; score: number } | undefined
  for (let at = 0; at < lines.length && at < MAX_COMPARED; at++) {
    const line = plain(lines[at]!.trim()).slice(0, MAX_LENGTH)
    const longer = Math.max(line.length, wanted.length)
    if (Math.abs(line.length - wanted.length) > longer / 2) continue
    const score = 1 - distance(line, wanted) / longer
    if (score > 0.55 && (best === undefined || score > best.score)) best = { at, score }
  }
  return best === undefined ? undefined : Math.max(0, best.at - index)
}

function place(
  lines: readonly string[],
  at: number,
  { length, differs }: { length: number; differs: string | undefined },
): Nearest {
  const to = Math.min(lines.length, at + length)
  const shown = lines.slice(at, Math.min(to, at + EXCERPT_LINES))
  const excerpt = shown.map((line, i) => `${String(at + i + 1).padStart(6)}\t${line.slice(0, MAX_LENGTH)}`)
  if (to - at > shown.length) excerpt.push('   ...')
  return { from: at + 1, to, differs, excerpt: excerpt.join('\n') }
}

function trimBlank(lines: readonly string[]): string[] {
  let from = 0
  let to = lines.length
  while (from < to && lines[from]!.trim() === '') from++
  while (to > from && lines[to - 1]!.trim() === '') to--
  return lines.slice(from, to)
}

function squeeze(line: string): string {
  return line.trim().replace(/\s+/g, ' ')
}

function plain(line: string): string {
  return line
    .replace(/[\u2018\u2019\u201a\u201b\u2032]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u00a0\u2000-\u200a\u202f\u3000]/g, ' ')
    .replace(/\u2026/g, '...')
}
