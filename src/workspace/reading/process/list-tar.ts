import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { wholeCodePoints } from '../../../gateway/files/encoding.ts'
import type { ArchiveEntry, ArchiveFacts } from '../view.ts'
import type { HostBytes } from './host-bytes.ts'
import { type TarMember, tarMembers } from './tar-members.ts'

/** Bytes that are expanded for a listing. */
const MAX_EXPANDED = 256 * 1024 ** 2
/** Bytes that come over the link for one of a tar that is not compressed. */
const MAX_FETCHED = 32 * 1024 ** 2
/** Processor time, in ms. */
const MAX_WORK_MS = 3_000
const HEADER = 512
const BEGINNING = 4_096

type TarBytes = Pick<HostBytes, 'size' | 'fetched' | 'readInto' | 'chunks'>
interface TarOptions {
  gzip: boolean
  maxEntries: number
  /** Limits other than those of the product. */
  maxExpanded?: number
  maxFetched?: number
  maxWorkMs?: number
}

/** Lists a tar as far as reading it is quick; a gzip file without a tar in it by how its text begins. */
export async function listTar(bytes: TarBytes, options: TarOptions): Promise<ArchiveFacts> {
  if (!options.gzip) return { format: 'tar', encrypted: false, ...listPlain(bytes, options) }
  const head = await beginning(bytes)
  if (isTar(head)) return { format: 'tar.gz', encrypted: false, ...(await listPacked(bytes, options)) }
  const text = head.subarray(0, wholeCodePoints(head))
  const begins = isUtf8(text) && !text.includes(0) ? text.toString() : undefined
  return { format: 'gzip', encrypted: false, entries: [], begins }
}

async function beginning(bytes: TarBytes): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  const expanded = createGunzip()
  // The same error ends the loop below.
  pipeline(Readable.from(bytes.chunks()), expanded).catch(() => {})
  for await (const part of expanded) {
    parts.push(part as Buffer)
    length += (part as Buffer).length
    if (length >= BEGINNING) break
  }
  return Buffer.concat(parts).subarray(0, BEGINNING)
}

function isTar(head: Buffer): boolean {
  return head.length >= HEADER && head.toString('latin1', 257, 262) === 'ustar'
}

type Listing = Pick<ArchiveFacts, 'entries' | 'count' | 'bytes'>

/** Goes from header to header, and past the contents. */
function listPlain(bytes: TarBytes, { maxEntries, maxFetched = MAX_FETCHED, maxWorkMs = MAX_WORK_MS }: TarOptions): Listing {
  const found = { entries: [] as ArchiveEntry[], count: 0, bytes: 0 }
  for (const member of tarMembers(bytes)) {
    if (member !== undefined) add(found, listed(member), maxEntries)
    if (bytes.fetched > maxFetched || workMs() > maxWorkMs) return { entries: found.entries }
  }
  return found
}

/** Expands all, members' contents and whatever stands between them, as far as the limits allow. */
async function listPacked(
  bytes: TarBytes,
  { maxEntries, maxExpanded = MAX_EXPANDED, maxWorkMs = MAX_WORK_MS }: TarOptions,
): Promise<Listing> {
  const tar = extract()
  let [over, expanded] = [false, 0]
  const metered = async function* (parts: AsyncIterable<Buffer>) {
    for await (const part of parts) {
      expanded += part.length
      over ||= expanded > maxExpanded || workMs() > maxWorkMs
      if (over) return
      yield part
    }
  }
  const fed = pipeline(Readable.from(bytes.chunks()), createGunzip(), metered, tar)
  // The same error ends the loop below.
  fed.catch(() => {})
  const found = { entries: [] as ArchiveEntry[], count: 0, bytes: 0 }
  try {
    for await (const entry of tar) {
      const { name, type, size = 0, linkname } = entry.header
      add(found, listed({ name, size, folder: type === 'directory', linkname: linkname ?? undefined }), maxEntries)
      over ||= workMs() > maxWorkMs
      if (over) break
      entry.resume()
    }
    if (!over) await fed
  } catch (error) {
    if (!over) throw error
  }
  return over ? { entries: found.entries } : found
}

function add(found: { entries: ArchiveEntry[]; count: number; bytes: number }, entry: ArchiveEntry, maxEntries: number): void {
  found.count += 1
  found.bytes += entry.size
  if (found.entries.length < maxEntries) found.entries.push(entry)
}

function listed({ name, folder, size, linkname }: TarMember): ArchiveEntry {
  return { path: name, folder, size, ...(linkname ? { link: linkname } : {}) }
}

function workMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
