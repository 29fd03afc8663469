import { formatMs } from '../lib/deadline.ts'

const BYTE_UNITS = ['KB', 'MB', 'GB', 'TB'] as const

/** A size for people, in powers of 1024: `512 bytes`, `1.5 KB`, `3 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return count(bytes, 'byte')
  let value = bytes / 1024
  let unit = 0
  while (value >= 1023.95 && unit < BYTE_UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${Math.round(value * 10) / 10} ${BYTE_UNITS[unit]}`
}

/** A duration for people, to a tenth of a second above one second. */
export function formatDuration(ms: number): string {
  return formatMs(ms < 1_000 ? Math.round(ms) : Math.round(ms / 100) * 100)
}

/** `1 line`, `2 lines`, `3 matches`. */
export function count(number: number, noun: string): string {
  if (number === 1) return `1 ${noun}`
  return `${number} ${noun}${/(ch|s|x)$/.test(noun) ? 'es' : 's'}`
}
