import { WorkspaceError } from '../../../lib/errors.ts'
import { type ReaderOptions, runReader } from './reader-process.ts'
import type { ArchiveFormat, Frontmatter, ReaderMessage } from './reader-protocol.ts'

export type { ReaderOptions } from './reader-process.ts'

export interface ExpandOptions extends ReaderOptions {
  format?: ArchiveFormat | undefined
  maxEntries: number
  maxBytes: number
}

/** The headers of `SKILL.md` files, read in a process of its own. What it can't get through is unreadable, never an error. */
export async function readFrontmatter(texts: readonly string[], options: ReaderOptions = {}): Promise<Frontmatter[]> {
  if (texts.length === 0) return []
  try {
    return await headers(texts, options)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!(error instanceof WorkspaceError) || error.code !== 'too_large') throw error
    // One of them is too much: each by itself, so that it hides no other.
    if (texts.length > 1) return (await Promise.all(texts.map(text => readFrontmatter([text], options)))).flat()
    return [{ unreadable: 'the frontmatter takes too much memory or time', fix: 'Keep it to a few plain fields.' }]
  }
}

async function headers(texts: readonly string[], options: ReaderOptions): Promise<Frontmatter[]> {
  for await (const message of runReader({ kind: 'frontmatter', texts }, options)) {
    if (message.kind === 'frontmatter') return message.results
  }
  throw new WorkspaceError('internal', 'The reader of skills ended without an answer.')
}

/** A file of an archive; its content must be read to the end before the next file is asked for. */
export interface ExpandedFile {
  path: string
  /** 0644, or 0755 for what may be executed. */
  mode: number
  content: AsyncIterable<Uint8Array>
}

/** Expands an archive in a process of its own, a file after the other; throws `invalid_argument` or `too_large` for a bad one. */
export async function* expandArchive(bytes: Uint8Array, options: ExpandOptions): AsyncGenerator<ExpandedFile> {
  const { format, maxEntries, maxBytes } = options
  const messages = runReader({ kind: 'archive', format, bytes, maxEntries, maxBytes }, options)
  try {
    let { value: message } = await messages.next()
    while (message?.kind === 'file') {
      const { path, mode } = message
      let next: ReaderMessage | undefined
      const content = (async function* () {
        for (;;) {
          const { value } = await messages.next()
          next = value ?? undefined
          if (next?.kind !== 'data') return
          yield next.data
        }
      })()
      yield { path, mode, content }
      for await (const _ of content);
      message = next
    }
    if (message?.kind !== 'done') throw new WorkspaceError('internal', 'The reader of archives ended in the middle.')
  } finally {
    await messages.return(undefined)
  }
}
