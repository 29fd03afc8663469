import type { WriteParams, WriteResult } from '../protocol.ts'
import { detect, type Encoding, encode, expectWellFormed } from './encoding.ts'
import { errno } from './fs-error.ts'
import { expectKnown, fingerprint, fingerprintWritten } from './known-content.ts'
import type { Location } from './locate.ts'
import { type FileStat, openRegular, statBig } from './open-regular.ts'
import type { ReadState } from './read-state.ts'
import { replaceFile } from './replace-file.ts'
import { lineCount } from './text-lines.ts'

const HEAD = 256 * 1024

/** What is at a path before it is written. */
interface Before {
  stat: FileStat
  encoding: Encoding
  bom: boolean
}

/** Writes a whole file. One that exists must have been read by the session, unless `force`; its encoding is kept where possible. */
export async function writeFile(location: Location, params: WriteParams, state: ReadState): Promise<WriteResult> {
  const before = await lookAt(location, params, state)
  if (!before?.encoding.startsWith('utf-16')) expectWellFormed(params.content, 'content', location.path)
  const { bytes, encoding, notices } = encodeLike(params.content, before)
  await replaceFile(location.real, one(bytes), { path: location.path, existing: before?.stat })
  state.remember(params.session, location.real, fingerprintWritten(bytes, await statBig(location.real)))
  return {
    path: location.path,
    created: before === undefined,
    bytes: bytes.length,
    lines: lineCount(params.content),
    encoding,
    notices,
  }
}

/** A single chunk as a stream. */
export async function* one(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}

/** Whether something is at the real path (a link there was followed before). */
export async function existsAt(location: Location): Promise<boolean> {
  try {
    await statBig(location.real)
    return true
  } catch (error) {
    return errno(error) !== 'ENOENT' && errno(error) !== 'ENOTDIR'
  }
}

async function lookAt(location: Location, params: WriteParams, state: ReadState): Promise<Before | undefined> {
  if (!(await existsAt(location))) return undefined
  const file = await openRegular(location)
  try {
    const { session, force } = params
    // An empty file holds nothing that could be lost.
    if (force !== true && file.stat.size > 0n) {
      expectKnown(state, { session, real: location.real, path: location.path }, await fingerprint(file))
    }
    const head = Buffer.alloc(Math.min(HEAD, Number(file.stat.size)))
    const { bytesRead } = await file.handle.read(head, 0, head.length, 0)
    const form = detect(head.subarray(0, bytesRead), file.stat.size <= BigInt(bytesRead))
    if (form.kind === 'binary') return { stat: file.stat, encoding: 'utf-8', bom: false }
    return { stat: file.stat, encoding: form.encoding, bom: form.bomBytes > 0 }
  } finally {
    await file.handle.close()
  }
}

function encodeLike(content: string, before: Before | undefined): { bytes: Buffer; encoding: Encoding; notices: string[] } {
  const encoding = before?.encoding ?? 'utf-8'
  const bytes = encode(content, encoding, before?.bom ?? false)
  if (bytes !== undefined) return { bytes, encoding, notices: [] }
  const notice = `The file was ${encoding}, which cannot hold some of the new characters: it is UTF-8 now.`
  return { bytes: Buffer.from(content, 'utf8'), encoding: 'utf-8', notices: [notice] }
}
