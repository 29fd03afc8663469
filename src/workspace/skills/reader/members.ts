import type { ReaderMessage } from './reader-protocol.ts'

/** An archive, or a member of it, that is not taken. */
export class Refusal extends Error {
  readonly answer: ReaderMessage & { kind: 'refused' }

  constructor(code: 'invalid_argument' | 'too_large' | 'unsupported', message: string, hint?: string) {
    super(message)
    this.answer = { kind: 'refused', code, message, hint }
  }
}

export type MemberType = 'file' | 'directory' | 'other'

const MAX_PATH_BYTES = 1_000
const MAX_DEPTH = 32
/** What archivers leave behind, and nobody means. */
const LITTER = /(?:^|\/)(?:__MACOSX(?:\/|$)|\.DS_Store$|\._[^/]*$|Thumbs\.db$)/

export interface Bounds {
  maxEntries: number
  maxBytes: number
}

/** Checks the members of one archive as they come: where they lead, that none hides another, how many and how large they are. */
export class Members {
  readonly #bounds: Bounds
  /** Folded path → whether it is a folder, and how it was written. */
  readonly #seen = new Map<string, { folder: boolean; path: string }>()
  #entries = 0
  #bytes = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** The path to write a member to; `undefined` for what is passed over (folders, litter). Throws a `Refusal`. */
  admit(name: string, type: MemberType): string | undefined {
    this.#entries += 1
    if (this.#entries > this.#bounds.maxEntries)
      throw new Refusal('too_large', `The archive has more than ${this.#bounds.maxEntries} members.`)
    const shown = JSON.stringify(name.slice(0, 200))
    if (type === 'other')
      throw new Refusal(
        'invalid_argument',
        `The archive's member ${shown} is a link or a special file.`,
        'Pack regular files only.',
      )
    const path = safePath(name, shown)
    if (path === '' || LITTER.test(path)) return undefined
    this.#claim(path, type === 'directory', shown)
    return type === 'file' ? path : undefined
  }

  /** Counts bytes as they were really expanded. */
  count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#bounds.maxBytes)
      throw new Refusal('too_large', `The archive expands to more than ${this.#bounds.maxBytes} bytes.`)
  }

  #claim(path: string, folder: boolean, shown: string): void {
    const parts = path.split('/')
    for (let end = 1; end <= parts.length; end++) {
      const here = parts.slice(0, end).join('/')
      const isFolder = end < parts.length || folder
      const key = here.normalize('NFC').toLowerCase()
      const before = this.#seen.get(key)
      if (before === undefined) this.#seen.set(key, { folder: isFolder, path: here })
      else if (!before.folder || !isFolder || before.path !== here)
        throw new Refusal(
          'invalid_argument',
          `The archive's member ${shown} has the same place as ${JSON.stringify(before.path)}.`,
        )
    }
  }
}

function safePath(name: string, shown: string): string {
  const unsafe = (why: string) =>
    new Refusal('invalid_argument', `The archive's member ${shown} ${why}.`, 'Pack it with relative paths.')
  if (/[\\\p{Cc}]/u.test(name)) throw unsafe('has a backslash or a control character in its name')
  if (/^\/|^[A-Za-z]:/.test(name)) throw unsafe('has an absolute path')
  const parts = name.split('/').filter(part => part !== '' && part !== '.')
  if (parts.includes('..')) throw unsafe('leads out of the archive')
  if (Buffer.byteLength(name) > MAX_PATH_BYTES || parts.length > MAX_DEPTH || parts.some(part => Buffer.byteLength(part) > 255))
    throw unsafe('has too long a path')
  return parts.join('/')
}

/** Permission bits of an expanded file: whether it may be executed, nothing else. */
export const modeOf = (mode: number): number => ((mode & 0o111) === 0 ? 0o644 : 0o755)
