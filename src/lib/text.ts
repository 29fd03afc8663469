/** Cuts, counts and joins of UTF-8 bytes: never through a code point, never by decoding what is not shown. */

/** Largest `end` ≤ `limit` that does not cut a code point of `bytes`. */
export function cutBefore(bytes: Uint8Array, limit: number): number {
  if (limit >= bytes.length) return bytes.length
  let end = Math.max(0, limit)
  for (let steps = 0; steps < 3 && end > 0 && isContinuation(bytes[end]); steps++) end--
  return isContinuation(bytes[end]) ? Math.max(0, limit) : end
}

/** Smallest `start` ≥ `from` that does not begin inside a code point of `bytes`. */
export function cutAfter(bytes: Uint8Array, from: number): number {
  if (from <= 0) return 0
  let start = from
  for (let steps = 0; steps < 3 && start < bytes.length && isContinuation(bytes[start]); steps++) start++
  return start < bytes.length && isContinuation(bytes[start]) ? from : start
}

/** Length of the unfinished code point at the end of `bytes` (0–3): bytes that may become valid with the next chunk. */
export function unfinishedTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (isContinuation(byte)) continue
    return sequenceLength(byte) > back ? back : 0
  }
  return 0
}

/** Number of line feeds in `bytes`; four bytes a step, since this runs over everything that a command prints. */
export function countLineFeeds(bytes: Uint8Array): number {
  if (!bytes.includes(10)) return 0
  const skew = (4 - (bytes.byteOffset & 3)) & 3
  const first = Math.min(skew, bytes.length)
  const words = (bytes.length - first) >> 2
  let count = countPlain(bytes, 0, first) + countPlain(bytes, first + words * 4, bytes.length)
  const view = words > 0 ? new Int32Array(bytes.buffer, bytes.byteOffset + first, words) : new Int32Array(0)
  for (let block = 0; block < words; block += 255) {
    let sums = 0
    const end = Math.min(words, block + 255)
    let i = block
    for (; i < end - 2; i += 3) {
      const [a, b, c] = [view[i] as number, view[i + 1] as number, view[i + 2] as number]
      sums = (sums + lineFeedFlags(a) + lineFeedFlags(b) + lineFeedFlags(c)) | 0
    }
    for (; i < end; i++) sums = (sums + lineFeedFlags(view[i] as number)) | 0
    count += (sums & 0xff) + ((sums >>> 8) & 0xff) + ((sums >>> 16) & 0xff) + (sums >>> 24)
  }
  return count
}

/** One bit at the bottom of each of the four bytes that is a line feed. */
function lineFeedFlags(word: number): number {
  const x = word ^ 0x0a0a0a0a
  return (~(((x & 0x7f7f7f7f) + 0x7f7f7f7f) | x | 0x7f7f7f7f) >>> 7) & 0x01010101
}

function countPlain(bytes: Uint8Array, from: number, to: number): number {
  let count = 0
  for (let i = from; i < to; i++) if (bytes[i] === 10) count++
  return count
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4
  if (lead >= 0xe0 && lead < 0xf0) return 3
  return lead >= 0xc2 && lead < 0xe0 ? 2 : 1
}
