import type { ReadText } from '../../gateway/protocol.ts'

/** An image as a client takes it: decoded once, within the limits of bytes and pixels. */
export interface ShownImage {
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  data: Uint8Array
  width: number
  height: number
}

/** What every view says of its file. */
export interface About {
  /** Absolute. */
  path: string
  size: number
  /** By its first bytes; absent where unknown. */
  mediaType?: string | undefined
}

export interface ImageFacts {
  /** Of the image as it lies in the file, upright. */
  width: number
  height: number
  /** More than one: the first is shown. */
  frames: number
  image: ShownImage
}
export interface ImageView extends About, ImageFacts {
  kind: 'image'
}

export interface PdfPage {
  /** From 1. */
  number: number
  text: string
  /** Characters that were left out. */
  cut: number
  image?: ShownImage | undefined
  /** Why the page, or its image, is not shown. */
  why?: string | undefined
}
export interface PdfView extends About {
  kind: 'pdf'
  pageCount: number
  /** The pages that were meant; fewer are given where a limit was met. */
  last: number
  pages: PdfPage[]
  /** Why the pages that follow are not given, other than for the last one's fault. */
  stopped?: string | undefined
}

export interface NotebookOutput {
  /** `stdout`, `stderr`, `error`, `result`, `display` or `attachment NAME`. */
  label: string
  text?: string | undefined
  cut: number
  image?: ShownImage | undefined
  /** What is not shown, and why. */
  why?: string | undefined
}
export interface NotebookCell {
  /** From 1. */
  number: number
  type: string
  id?: string | undefined
  /** Number of its last run. */
  run?: number | undefined
  source: string
  cut: number
  outputs: NotebookOutput[]
  /** Outputs that were left out. */
  more: number
}
export interface NotebookFacts {
  /** `4.5` */
  format: string
  language?: string | undefined
  cellCount: number
  cells: NotebookCell[]
}
export interface NotebookView extends About, NotebookFacts {
  kind: 'notebook'
}

export interface ArchiveEntry {
  path: string
  /** Of a link: where it leads. */
  link?: string | undefined
  folder: boolean
  size: number
}
export interface ArchiveFacts {
  format: 'zip' | 'tar' | 'tar.gz' | 'gzip'
  /** The first ones, in the archive's order. */
  entries: ArchiveEntry[]
  /** Absent where counting would take too long. */
  count?: number | undefined
  /** Their sizes as the archive tells them; absent with `count`. */
  bytes?: number | undefined
  encrypted: boolean
  /** Of a single compressed file: how its text begins. */
  begins?: string | undefined
}
export interface ArchiveView extends About, ArchiveFacts {
  kind: 'archive'
}

export interface AudioView extends About {
  kind: 'audio'
  mediaType: string
  data: Uint8Array
  /** The size that its header tells, where the file is shorter. */
  told?: number | undefined
}

/** A file of which only its type is told. */
export interface OpaqueView extends About {
  kind: 'opaque'
  /** First bytes. */
  head: Uint8Array
  /** Why it is not shown, and what to do; absent for a type that has no reader. */
  why?: string | undefined
  hint?: string | undefined
}

/** A text file's lines, or why a notebook is given as such. */
export interface TextView {
  kind: 'text'
  result: ReadText
  remark?: string | undefined
}

/** What Read shows of a file. */
export type FileView = TextView | ImageView | PdfView | NotebookView | ArchiveView | AudioView | OpaqueView
