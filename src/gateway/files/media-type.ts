/** `first`: what stands at the beginning as well. */
const SIGNATURES: readonly { type: string; bytes: string; at?: number; first?: string }[] = [
  { type: 'image/png', bytes: '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', bytes: '\xff\xd8\xff' },
  { type: 'image/gif', bytes: 'GIF87a' },
  { type: 'image/gif', bytes: 'GIF89a' },
  { type: 'image/webp', bytes: 'WEBP', at: 8, first: 'RIFF' },
  { type: 'image/avif', bytes: 'ftypavif', at: 4 },
  { type: 'image/heic', bytes: 'ftypheic', at: 4 },
  { type: 'image/tiff', bytes: 'II*\0' },
  { type: 'image/tiff', bytes: 'MM\0*' },
  { type: 'image/x-icon', bytes: '\0\0\x01\0' },
  { type: 'application/pdf', bytes: '%PDF-' },
  { type: 'application/zip', bytes: 'PK\x03\x04' },
  { type: 'application/zip', bytes: 'PK\x05\x06' },
  { type: 'application/gzip', bytes: '\x1f\x8b\x08' },
  { type: 'application/x-bzip2', bytes: 'BZh' },
  { type: 'application/x-xz', bytes: '\xfd7zXZ\0' },
  { type: 'application/zstd', bytes: '\x28\xb5\x2f\xfd' },
  { type: 'application/x-7z-compressed', bytes: "7z\xbc\xaf'\x1c" },
  { type: 'application/x-tar', bytes: 'ustar', at: 257 },
  { type: 'application/x-executable', bytes: '\x7fELF' },
  { type: 'application/wasm', bytes: '\0asm' },
  { type: 'application/vnd.sqlite3', bytes: 'SQLite format 3\0' },
  { type: 'audio/wav', bytes: 'WAVE', at: 8, first: 'RIFF' },
  { type: 'audio/mpeg', bytes: 'ID3' },
  { type: 'audio/ogg', bytes: 'OggS' },
  { type: 'audio/flac', bytes: 'fLaC' },
  { type: 'video/webm', bytes: '\x1a\x45\xdf\xa3' },
  { type: 'video/mp4', bytes: 'ftyp', at: 4 },
]

/** Types that are no text even where their first bytes hold no NUL. */
const NEVER_TEXT = /^(image\/(png|jpeg|gif|webp)|application\/(pdf|zip|gzip))$/

/** The media type by magic bytes; undefined where unknown. */
export function mediaTypeOf(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 512)).toString('latin1')
  return SIGNATURES.find(({ bytes, at = 0, first = '' }) => text.startsWith(bytes, at) && text.startsWith(first))?.type
}

/** Whether a file with this media type is shown as binary whatever its bytes look like. */
export function isBinaryType(mediaType: string | undefined): boolean {
  return mediaType !== undefined && NEVER_TEXT.test(mediaType)
}
