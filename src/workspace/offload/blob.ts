import { createHash } from 'node:crypto'
import { mediaExtension } from './media-extension.ts'

/** Content of `data/`. */
export interface Blob {
  /** File name: SHA-256 of the base64 text, with the media type's extension. */
  name: string
  bytes: Uint8Array
  mediaType: string
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/** The bytes of base64 text in any usual form (line breaks, the URL alphabet, no padding); `undefined` for other text. */
export function base64Bytes(text: string): Buffer | undefined {
  const bare = /\s/.test(text) ? text.replace(/\s+/g, '') : text
  if (!BASE64.test(bare) || bare.replace(/=+$/, '').length % 4 === 1) return undefined
  return Buffer.from(bare, 'base64')
}

/**
 * A blob of bytes or base64 text; `undefined` where the text is no base64. The hash is taken over the text in standard form, so
 * that one content has one name.
 */
export function blobOf(data: string | Uint8Array, mediaType: string): Blob | undefined {
  const bytes = typeof data === 'string' ? base64Bytes(data) : data
  if (bytes === undefined) return undefined
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const hash = createHash('sha256').update(text).digest('hex')
  return { name: hash + mediaExtension(mediaType), bytes, mediaType }
}

/** The parts of a `data:` URL with base64 content; `undefined` for every other text. */
export function parseDataUrl(url: unknown): { data: string; mediaType: string } | undefined {
  if (typeof url !== 'string' || !/^data:/i.test(url)) return undefined
  const comma = url.indexOf(',')
  const [mediaType, ...parameters] = url.slice('data:'.length, comma).split(';')
  if (comma < 0 || parameters.at(-1)?.trim().toLowerCase() !== 'base64') return undefined
  const data = url.slice(comma + 1)
  return { data: data.includes('%') ? unescaped(data) : data, mediaType: mediaType || 'text/plain' }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
