/** What the host asks of a reader of untrusted formats, and what the reader sends back. One job a reader. */
export type ReaderJob = FrontmatterJob | ArchiveJob

export interface FrontmatterJob {
  kind: 'frontmatter'
  /** Whole texts of `SKILL.md` files. */
  texts: readonly string[]
}

export interface ArchiveJob {
  kind: 'archive'
  /** Absent: told by the first bytes. */
  format?: ArchiveFormat | undefined
  bytes: Uint8Array
  maxEntries: number
  maxBytes: number
}

export const ARCHIVE_FORMATS = ['zip', 'tar', 'tar.gz'] as const
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number]

/** A file's frontmatter as JSON and the text after it, or why there is none. */
export type Frontmatter =
  | { fields: Record<string, unknown>; body: string; warnings: string[] }
  | { unreadable: string; fix: string }

export type ReaderMessage =
  | { kind: 'frontmatter'; results: Frontmatter[] }
  | { kind: 'file'; path: string; mode: number }
  /** A piece of the file named last; the reader waits for `next` before it goes on. */
  | { kind: 'data'; data: Uint8Array }
  | { kind: 'done' }
  | { kind: 'refused'; code: 'invalid_argument' | 'too_large' | 'unsupported'; message: string; hint?: string | undefined }
