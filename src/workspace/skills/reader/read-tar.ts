import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import type { Expanded } from './expanded.ts'
import { type Members, type MemberType, modeOf } from './members.ts'

const PIECE = 64 * 1024

/** Expands a tar, gzipped or not, in its own order. */
export async function* readTar(bytes: Uint8Array, members: Members, { gzip }: { gzip: boolean }): AsyncGenerator<Expanded> {
  const tar = extract()
  const fed = gzip ? pipeline(pieces(bytes), createGunzip(), tar) : pipeline(pieces(bytes), tar)
  // The same error ends the loop below.
  fed.catch(() => {})
  for await (const entry of tar) {
    const { header } = entry
    const path = members.admit(header.name, typeOf(header))
    if (path !== undefined) yield { path, mode: modeOf(header.mode ?? 0o644) }
    for await (const data of entry) {
      if (path !== undefined) yield { data: data as Buffer }
      // What is passed over is expanded all the same.
      else members.count((data as Buffer).length)
    }
  }
  await fed
}

function pieces(bytes: Uint8Array): Readable {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Readable.from(
    (function* () {
      for (let at = 0; at < all.length; at += PIECE) yield all.subarray(at, at + PIECE)
    })(),
  )
}

function typeOf({ type }: Header): MemberType {
  if (type === 'directory') return 'directory'
  return type === 'file' || type === 'contiguous-file' || type === undefined || type === null ? 'file' : 'other'
}
