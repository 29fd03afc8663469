/** What a terminal shows, as a person would see it. */
export interface Screen {
  columns: number
  rows: number
  /** From the top, without blanks at their ends and without the empty ones at the end. */
  lines: string[]
  /** Counted from 1, in cells: a wide character has two. */
  cursor: { row: number; column: number; visible: boolean }
  /** As the program named its window; '' where it did not. */
  title: string
  /** Whether a program draws on the second screen, as editors and pagers do. */
  alternate: boolean
  /** Whether the cursor keys send what full-screen programs expect. */
  applicationCursor: boolean
  /** Lines that left the screen at its top, at most `MAX_SCROLLED_OFF`. */
  scrolledOff: number
  /** What the terminal answers to questions that are the last that the program wrote; '' where there are none. */
  replies: string
  /** Bytes of the log that came before those that were looked at. */
  skippedBytes: number
}

/** A log of a terminal to be shown. */
export interface ScreenJob {
  bytes: Uint8Array
  /** Where `bytes` begin in the log. */
  offset: number
  /** Sizes that the terminal had, each with the byte of the log from which it counts. */
  sizes: readonly { at: number; columns: number; rows: number }[]
}

/** So many lines above the screen are kept, to be counted. */
export const MAX_SCROLLED_OFF = 10_000
