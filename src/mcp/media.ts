import { extname } from 'node:path'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
  '.gz': 'application/gzip',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
}

/** The media type that a file's name suggests; else plain text or raw bytes. */
export function mediaTypeOf(path: string, isText: boolean): string {
  return MEDIA_TYPES[extname(path).toLowerCase()] ?? (isText ? 'text/plain' : 'application/octet-stream')
}

/**
 * The first `length` bytes as text, or nothing where they are no UTF-8. A code point belongs to the part that it starts in:
 * bytes before the first start are skipped (`inside`), and what follows `length` completes the last one.
 */
export function textOf(data: Uint8Array, { length, inside }: { length: number; inside: boolean }): string | undefined {
  let start = 0
  while (inside && start < 3 && isContinuation(data[start])) start += 1
  let end = length
  while (isContinuation(data[end])) end += 1
  const part = data.subarray(Math.min(start, end), end)
  if (part.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(part)
  } catch {
    return undefined
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
