import type { ByteSource } from './byte-source.ts'

const CHUNK = 64 * 1024
/** So far back the start of one line is looked for; a longer one is shown from there. */
const ENDLESS_LINE = 256 * 1024 * 1024

export interface TailOptions {
  /** Where the text begins (after a byte order mark). */
  from: number
  /** The byte that ends a line. */
  separator: number
}

/** Byte offset where the last `wanted` lines begin and how many there are from it, found by reading backwards. */
export async function startOfLastLines(
  source: ByteSource,
  wanted: number,
  { from, separator }: TailOptions,
): Promise<{ position: number; lines: number }> {
  let end = source.size
  let found = 0
  let lineEnd = end
  for (let first = true; end > from; first = false) {
    const start = Math.max(from, end - CHUNK)
    const chunk = await source.read(start, end - start)
    // A separator at the very end finishes the last line; it begins none.
    let at = first ? chunk.length - 2 : chunk.length - 1
    for (
      at = at < 0 ? -1 : chunk.lastIndexOf(separator, at);
      at !== -1;
      at = at === 0 ? -1 : chunk.lastIndexOf(separator, at - 1)
    ) {
      found++
      lineEnd = start + at
      if (found === wanted) return { position: start + at + 1, lines: wanted }
    }
    end = start
    if (lineEnd - end > ENDLESS_LINE) return { position: end, lines: found + 1 }
  }
  return { position: from, lines: found + 1 }
}
