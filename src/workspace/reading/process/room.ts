import { READING_LIMITS } from '../reading-limits.ts'

const OUTPUT_CHARS = 10_000

/** What is left of an answer, while it is made. */
export class Room {
  chars: number
  images: number = READING_LIMITS.notebookImages

  constructor(chars: number) {
    this.chars = chars
  }

  /** The start of a text, as long as it may be, and how many characters were left out. */
  fit(text: string, most = OUTPUT_CHARS): { text: string; cut: number } {
    const shown = text.slice(0, Math.max(0, Math.min(most, this.chars))).replace(/[\ud800-\udbff]$/, '')
    this.chars -= shown.length
    return { text: shown.replace(/\p{Cs}/gu, '\ufffd'), cut: text.length - shown.length }
  }
}
