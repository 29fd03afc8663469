import { mediaTypeOf } from '../../gateway/files/media-type.ts'
import { isAdts, isId3, isMpegFrame } from './sound-headers.ts'

export type FileKind = 'image' | 'pdf' | 'zip' | 'tar' | 'gzip' | 'audio' | 'other'

/** Signatures beside those that the gateway knows: readers on this side may be newer than it. `first`: what begins the file as well. */
const MORE: readonly { type: string; bytes: string; at?: number; first?: string }[] = [
  { type: 'image/avif', bytes: 'ftypavis', at: 4 },
  { type: 'image/heic', bytes: 'ftypheix', at: 4 },
  { type: 'image/heic', bytes: 'ftypmif1', at: 4 },
  { type: 'image/jxl', bytes: '\xff\x0a' },
  { type: 'image/jp2', bytes: '\0\0\0\x0cjP  ' },
  { type: 'image/tiff', bytes: 'II+\0' },
  { type: 'image/vnd.adobe.photoshop', bytes: '8BPS' },
  { type: 'audio/mp4', bytes: 'ftypM4A', at: 4 },
  { type: 'audio/aiff', bytes: 'AIFF', at: 8, first: 'FORM' },
  { type: 'audio/midi', bytes: 'MThd' },
  { type: 'application/vnd.rar', bytes: 'Rar!\x1a\x07' },
  { type: 'application/x-archive', bytes: '!<arch>\n' },
  { type: 'application/java-vm', bytes: '\xca\xfe\xba\xbe' },
  { type: 'application/vnd.apache.parquet', bytes: 'PAR1' },
  { type: 'font/ttf', bytes: '\0\x01\0\0' },
  { type: 'font/woff2', bytes: 'wOF2' },
]
/** Sounds that clients know by their type. */
const SOUNDS = new Set(['audio/wav', 'audio/mpeg', 'audio/ogg', 'audio/flac', 'audio/mp4', 'audio/aac', 'audio/aiff'])
/** Types that have no signature, but fields that tell them. */
const ALIKE: readonly { type: string; is(head: Uint8Array): boolean }[] = [
  { type: 'image/bmp', is: isBitmap },
  { type: 'audio/mpeg', is: isMpegFrame },
  { type: 'audio/aac', is: isAdts },
]
const KINDS: Readonly<Record<string, FileKind>> = {
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gzip',
  'application/x-tar': 'tar',
}

/** What a binary file is, by its first bytes alone: names say nothing. */
export function kindOfFile(head: Uint8Array): { kind: FileKind; mediaType: string | undefined } {
  const mediaType = typeOf(head)
  if (mediaType === undefined) return { kind: 'other', mediaType }
  if (mediaType.startsWith('image/')) return { kind: 'image', mediaType }
  if (SOUNDS.has(mediaType)) return { kind: 'audio', mediaType }
  return { kind: KINDS[mediaType] ?? 'other', mediaType }
}

function typeOf(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1')
  const special = MORE.find(({ bytes, at = 0, first = '' }) => text.startsWith(bytes, at) && text.startsWith(first))?.type
  if (special !== undefined) return special
  const told = mediaTypeOf(head)
  const known = told === 'audio/mpeg' && !isId3(head) ? undefined : told
  // A tar tells itself late, and what it holds first may look like anything.
  if (known !== 'application/x-tar' && text.startsWith('ustar', 257)) return 'application/x-tar'
  return known ?? ALIKE.find(({ is }) => is(head))?.type
}

function isBitmap(head: Uint8Array): boolean {
  const [b, m] = head
  return b === 0x42 && m === 0x4d && head.length > 14 && head.subarray(6, 10).every(byte => byte === 0)
}
