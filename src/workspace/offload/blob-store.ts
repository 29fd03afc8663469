import { posix } from 'node:path'
import type { GatewayCalls } from '../environment-link.ts'
import type { PortOptions } from '../ports.ts'
import type { Blob } from './blob.ts'
import { blobUri } from './replace-data.ts'

/** A blob that lies in `data/`. */
export interface StoredBlob {
  path: string
  uri: string
  size: number
  mediaType: string
}

export interface Place {
  root: string
  data: string
}

/** A blob that was written longer ago is written anew, so that no sweep takes it for one that nobody needs. */
const FRESH_MS = 3_600_000
const CHUNK = 256 * 1024

/** Puts blobs into `data/`, each that is not there yet (or not whole) by one rename. */
export async function storeBlobs(
  gateway: GatewayCalls,
  place: Place,
  { blobs, ...options }: PortOptions & { blobs: Iterable<Blob> },
): Promise<StoredBlob[]> {
  const stored: StoredBlob[] = []
  for (const { name, bytes, mediaType } of blobs) {
    const path = posix.join(place.data, name)
    const at = { path, confine: place.root }
    const { type, size, mtimeMs } = await gateway.call('file.stat', at, options)
    const known = type === 'file' && size === bytes.length && Date.now() - mtimeMs < FRESH_MS
    if (!known) await gateway.call('file.put', { ...at, mode: 0o600 }, { ...options, input: inChunks(bytes) })
    stored.push({ path, uri: blobUri(name), size: bytes.length, mediaType })
  }
  return stored
}

/** Bytes in pieces that a stream takes well. */
export async function* inChunks(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK)
}
