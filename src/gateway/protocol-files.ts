/** Files and search: parameters and results of `file.*` and `search.*`. */

export interface PathParams {
  path: string
  /** Real path that the file must lie in; absent: anywhere. */
  confine?: string
}
export interface ReadParams extends PathParams {
  /** Whose read-state remembers the file's content. */
  session: string
  /** First line, from 1; negative counts from the end. */
  offset?: number
  limit: number
  maxBytes: number
  maxLineBytes: number
}
export type ReadResult = ReadText | ReadBinary
export interface ReadText {
  kind: 'text'
  /** Absolute path as resolved against the workdir. */
  path: string
  lines: string[]
  /** Number of the first line given, from 1; negative, counted from the end, where numbering would take reading a large file whole. */
  firstLine: number
  /** Absent where counting would be slow. */
  totalLines?: number
  more: boolean
  size: number
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1'
  bom: boolean
  eol: 'lf' | 'crlf' | 'cr' | 'mixed' | 'none'
  /** Numbers of the lines that were cut to `maxLineBytes`. */
  cutLines: number[]
  /** The byte limit, not the line limit, ended the answer. */
  byteLimited: boolean
}
export interface ReadBinary {
  kind: 'binary'
  path: string
  size: number
  /** First bytes, base64, at most 512. */
  head: string
  /** From magic bytes; absent where unknown. */
  mediaType?: string
}
export interface WriteParams extends PathParams {
  session: string
  content: string
  /** Skip the read-before-write check (library use). */
  force?: boolean
}
export interface WriteResult {
  path: string
  created: boolean
  bytes: number
  lines: number
  encoding: string
  notices: string[]
}
export interface EditParams extends PathParams {
  session: string
  oldString: string
  newString: string
  replaceAll: boolean
}
export interface EditResult {
  path: string
  replacements: number
  /** Numbered lines around the (first) change, after it. */
  excerpt: { line: number; text: string }[]
  created: boolean
  notices: string[]
}
export interface StatResult {
  path: string
  type: 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device' | 'missing'
  size: number
  mode: number
  /** ms since the epoch. */
  mtimeMs: number
}
export interface ListResult {
  path: string
  entries: { name: string; type: StatResult['type']; size: number; mtimeMs: number }[]
  truncated: boolean
}

export interface PutParams extends PathParams {
  mode?: number
  /** What the bytes must hash to. */
  sha256?: string
  /** Nothing may be at the path (`already_exists`). */
  exclusive?: boolean
  /** SHA-256 (hex) of what the file has to hold before; null: it must not be there. Else `precondition_failed`. */
  replaces?: string | null
}
export interface AppendParams extends PathParams {
  /** Absent: the call's input stream is appended, at most 64 MiB. */
  data?: string
  /** How `data` is written down; default: `utf8`. */
  encoding?: 'utf8' | 'base64'
  /** Permission bits of a new file. */
  mode?: number
  /** Where the file ends within a line, that line is ended first. */
  ownLine?: boolean
}
export interface AppendResult {
  path: string
  created: boolean
  /** Byte at which the appended data begins; absent where another program appended at the same time. */
  offset?: number
  /** Bytes appended, without the end of an unfinished line. */
  bytes: number
}

export interface TreeParams extends PathParams {
  limit: number
  /** Levels to go down; absent: all. */
  depth?: number
  /** Files of at most this many bytes come with their SHA-256; absent: none. */
  hashUpTo?: number
}
export interface TreeEntry {
  /** Relative to the directory, with `/`. */
  path: string
  type: 'file' | 'directory' | 'symlink' | 'other'
  size: number
  mode: number
  mtimeMs: number
  sha256?: string
}
export interface TreeResult {
  path: string
  /** Parents before what is in them, by name. */
  entries: TreeEntry[]
  truncated: boolean
}
export interface MoveParams extends PathParams {
  to: string
  /** A file at the target is replaced. */
  replace?: boolean
}
export interface CopyParams extends PathParams {
  to: string
  /** Real path that the target must lie in; absent: `confine`. */
  confineTo?: string
  /** Names that are left out wherever they are. */
  exclude?: string[]
  maxFiles: number
  maxBytes: number
}
export interface CopyResult {
  path: string
  files: number
  bytes: number
  /** Links and special files that were left out, relative to the directory. */
  skipped: string[]
}

export interface GlobParams extends PathParams {
  pattern: string
  limit: number
  /** Limit of the search, in ms; absent: the gateway's own. */
  timeoutMs?: number
}
export interface GlobResult {
  path: string
  /** Absolute paths, newest first. */
  files: string[]
  total: number
  truncated: boolean
  notices: string[]
}
export interface GrepParams extends PathParams {
  pattern: string
  /** Limit of the search, in ms; absent: the gateway's own. */
  timeoutMs?: number
  mode: 'content' | 'files_with_matches' | 'count'
  glob?: string
  type?: string
  ignoreCase?: boolean
  before?: number
  after?: number
  multiline?: boolean
  /** Entries to give, after `offset` were skipped. */
  limit: number
  offset: number
  maxLineBytes: number
}
export interface GrepResult {
  path: string
  mode: GrepParams['mode']
  lines: GrepLine[]
  files: string[]
  counts: { path: string; count: number }[]
  /** Of all entries, not only the given ones; absent where the search is incomplete or shows content. */
  totals?: { files: number; matches?: number }
  /** More entries exist than were given. */
  truncated: boolean
  engine: 'ripgrep' | 'builtin'
  /** Why the answer may be incomplete (unreadable paths, time limit). */
  notices: string[]
}
export interface GrepLine {
  path: string
  line: number
  text: string
  kind: 'match' | 'context' | 'gap'
}
