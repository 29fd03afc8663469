import { distance } from 'fastest-levenshtein'

/** The candidate that was most likely meant by `name`: a slip of a third of its letters at most, or a part of it. `undefined` when none is near. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(name)
  if (wanted === '') return undefined
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const cost = costOf(wanted, plain(candidate))
    if (cost < least) {
      least = cost
      best = candidate
    }
  }
  return best
}

/** Case, hyphens and underscores are how people write, not what they mean. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

function costOf(wanted: string, candidate: string): number {
  if (candidate === '') return Number.POSITIVE_INFINITY
  const slips = distance(wanted, candidate)
  if (slips <= Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3))) return slips
  const [short, long] = wanted.length < candidate.length ? [wanted, candidate] : [candidate, wanted]
  return short.length >= 3 && long.includes(short) ? 100 + slips : Number.POSITIVE_INFINITY
}
