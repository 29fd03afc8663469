import type { ArchiveFacts, ImageFacts, NotebookFacts, PdfPage } from '../view.ts'

/** Limits of one image that is shown. */
export interface ImageBounds {
  /** Longer edge, in pixels. */
  maxEdge: number
  maxBytes: number
}

export interface ImageJob extends ImageBounds {
  kind: 'image'
  size: number
}
export interface PdfJob extends ImageBounds {
  kind: 'pdf'
  size: number
  /** From 1; absent: all, where they are few. */
  first?: number | undefined
  /** Absent with `first`: to the end. */
  last?: number | undefined
  images: boolean
  maxChars: number
  /** For all pages together: one that would be ready later, if it took as long as the longest before it, is not begun. */
  maxMs: number
}
export interface NotebookJob extends ImageBounds {
  kind: 'notebook'
  size: number
  /** First cell, from 1; negative counts from the end. */
  offset: number
  limit: number
  maxChars: number
}
export interface NotebookEditJob {
  kind: 'notebook-edit'
  size: number
  oldString: string
  newString: string
  replaceAll: boolean
}
export interface ArchiveJob {
  kind: 'archive'
  size: number
  format: 'zip' | 'tar' | 'gzip'
  maxEntries: number
}

/** What the host asks of a reader of files; one job a reader. The bytes it pulls through descriptor 3. */
export type ReaderJob = ImageJob | PdfJob | NotebookJob | NotebookEditJob | ArchiveJob

export interface RefusedMessage {
  kind: 'refused'
  /** `invalid_argument` where what was asked for is at fault, not the file. */
  code: 'invalid_argument' | 'too_large' | 'unsupported'
  message: string
  hint?: string | undefined
}

/** A change of a notebook as a change of its text: `from` occurs once. */
export interface NotebookChange {
  from: string
  to: string
  replacements: number
  cells: { number: number; id?: string | undefined; source: string }[]
}

export type ReaderMessage =
  | RefusedMessage
  | ({ kind: 'image' } & ImageFacts)
  | { kind: 'pdf'; pageCount: number; first: number; last: number }
  | { kind: 'page'; page: PdfPage }
  | { kind: 'stopped'; why: string }
  | ({ kind: 'notebook' } & NotebookFacts)
  | ({ kind: 'archive' } & ArchiveFacts)
  /** Absent: the file is no notebook that could be broken. */
  | { kind: 'change'; change?: NotebookChange | undefined }

/** Signals by which a reader ends itself. */
export const OUT_OF_MEMORY = 'SIGKILL'
export const OUT_OF_TIME = 'SIGALRM'

/** The descriptor of the channel on which a reader asks for bytes: offset and length as doubles; the answer is a length (u32) and as many bytes. */
export const BYTES_FD = 3
export const REQUEST_BYTES = 16
/** Most bytes of one answer. */
export const MAX_ANSWER_BYTES = 256 * 1024
