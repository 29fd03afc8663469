import { createHash } from 'node:crypto'
import { type ReaderOptions, readFrontmatter } from './reader/reader.ts'
import type { Frontmatter } from './reader/reader-protocol.ts'

/** The largest `SKILL.md` that is read. */
export const MAX_SKILL_FILE = 1024 ** 2

/** Content beyond which the oldest is forgotten. */
const MAX_KEPT = 2_000

export interface Header {
  hash: string
  frontmatter: Frontmatter
}

/** Headers of `SKILL.md` files by their content: what was read once needs no reader again. */
export class HeaderCache {
  readonly #kept = new Map<string, Frontmatter>()
  readonly #options: ReaderOptions

  constructor(options: ReaderOptions = {}) {
    this.#options = options
  }

  /** Options of the reader, for those who expand archives with it. */
  get reader(): ReaderOptions {
    return this.#options
  }

  /** A header for each content, in order. All that are new go to one reader. */
  async read(contents: readonly Uint8Array[], signal?: AbortSignal): Promise<Header[]> {
    const hashes = contents.map(content => createHash('sha256').update(content).digest('hex'))
    const found = new Map<string, Frontmatter>()
    const fresh = new Map<string, string>()
    for (const [at, hash] of hashes.entries()) {
      const kept = this.#kept.get(hash)
      const text = kept ?? decode(contents[at]!)
      if (typeof text === 'string') fresh.set(hash, text)
      else found.set(hash, text)
    }
    const read = await readFrontmatter([...fresh.values()], { ...this.#options, signal })
    for (const [at, hash] of [...fresh.keys()].entries()) {
      found.set(hash, read[at]!)
      this.#keep(hash, read[at]!)
    }
    return hashes.map(hash => ({ hash, frontmatter: found.get(hash)! }))
  }

  #keep(hash: string, header: Frontmatter): void {
    this.#kept.set(hash, header)
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!)
  }
}

function decode(content: Uint8Array): string | Frontmatter {
  if (content.length > MAX_SKILL_FILE)
    return { unreadable: `it is larger than ${MAX_SKILL_FILE} bytes`, fix: 'Move details into files beside it.' }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return { unreadable: 'it is no UTF-8 text', fix: 'Save it as UTF-8.' }
  }
}
