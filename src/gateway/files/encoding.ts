import { isUtf8 } from 'node:buffer'
import { WorkspaceError } from '../../lib/errors.ts'
import { isBinaryType, mediaTypeOf } from './media-type.ts'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1'

/** How a file's bytes are to be understood. */
export type Detected = { kind: 'text'; encoding: Encoding; bomBytes: number } | { kind: 'binary'; mediaType: string | undefined }

const BINARY_SAMPLE = 8192

/**
 * Text or binary, by the first bytes of a file: byte order mark, magic bytes, NULs. Text that is no valid UTF-8 is `latin1`, which
 * keeps every byte. `complete` says that `head` is the whole file, else an unfinished code point at its end is no fault.
 */
export function detect(head: Buffer, complete: boolean): Detected {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return text(isText(head, complete) ? 'utf-8' : 'latin1', 3)
  if (head[0] === 0xff && head[1] === 0xfe && !(head[2] === 0 && head[3] === 0)) return text('utf-16le', 2)
  if (head[0] === 0xfe && head[1] === 0xff) return text('utf-16be', 2)
  const mediaType = mediaTypeOf(head)
  if (isBinaryType(mediaType)) return { kind: 'binary', mediaType }
  const sample = head.subarray(0, BINARY_SAMPLE)
  if (sample.includes(0)) {
    const wide = mediaType === undefined ? wideEncoding(sample) : undefined
    return wide === undefined ? { kind: 'binary', mediaType } : text(wide, 0)
  }
  return text(isText(head, complete) ? 'utf-8' : 'latin1', 0)
}

/** The bytes (without their byte order mark) as a string. */
export function decode(bytes: Buffer, encoding: Encoding): string {
  if (encoding === 'utf-16be') return swapped(bytes).toString('utf16le')
  return bytes.toString(encoding === 'utf-16le' ? 'utf16le' : encoding)
}

/** Throws `invalid_argument` for half of a surrogate pair, which only UTF-16 can hold: elsewhere it would become U+FFFD. */
export function expectWellFormed(text: string, name: string, path: string): void {
  if (!/\p{Cs}/u.test(text)) return
  throw new WorkspaceError(
    'invalid_argument',
    `The ${name} for ${path} holds half of a character (a lone surrogate): nothing was written.`,
    {
      hint: 'Send whole characters.',
    },
  )
}

/** The text in that encoding, with its byte order mark where asked for; undefined where the encoding can't hold it. */
export function encode(content: string, encoding: Encoding, bom: boolean): Buffer | undefined {
  if (encoding === 'latin1') return /[^\u0000-\u00ff]/.test(content) ? undefined : Buffer.from(content, 'latin1')
  const marked = bom && !content.startsWith('\ufeff') ? `\ufeff${content}` : content
  if (encoding === 'utf-8') return Buffer.from(marked, 'utf8')
  const little = Buffer.from(marked, 'utf16le')
  return encoding === 'utf-16be' ? swapped(little) : little
}

/** The length of the longest start of `bytes` that does not end inside a UTF-8 code point. */
export function wholeCodePoints(bytes: Uint8Array): number {
  const length = bytes.length
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back]!
    if (byte < 0x80) return length
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return needed > back ? length - back : length
    }
  }
  return length
}

/** A copy with the bytes of each 16-bit unit exchanged; an odd byte at the end is dropped. */
export function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16()
}

function isText(head: Buffer, complete: boolean): boolean {
  return isUtf8(complete ? head : head.subarray(0, wholeCodePoints(head)))
}

function text(encoding: Encoding, bomBytes: number): Detected {
  return { kind: 'text', encoding, bomBytes }
}

/** UTF-16 without a mark: NULs in (nearly) all high halves, none in low ones, and no control characters. */
function wideEncoding(sample: Buffer): Encoding | undefined {
  const units = sample.length >> 1
  if (units < 2 || (sample.length & 1) === 1) return undefined
  let even = 0
  let odd = 0
  for (let i = 0; i + 1 < sample.length; i += 2) {
    if (sample[i] === 0) even++
    if (sample[i + 1] === 0) odd++
  }
  const encoding = even === 0 && odd > units * 0.6 ? 'utf-16le' : odd === 0 && even > units * 0.6 ? 'utf-16be' : undefined
  if (encoding === undefined) return undefined
  return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(decode(sample, encoding)) ? undefined : encoding
}
