import { type Entry, fromRandomAccessReader, getFileNameLowLevel, RandomAccessReader, type ZipFile } from 'yauzl'
import type { ArchiveEntry, ArchiveFacts } from '../view.ts'
import type { HostBytes } from './host-bytes.ts'

/** Entries that are looked at for the sum of their sizes. */
const MAX_COUNTED = 20_000
const DIRECTORY_ENTRY = 46
const TYPE_MASK = 0o170000
const LINK = 0o120000

/** Lists a zip by its directory alone, which lies at the end. */
export async function listZip(bytes: HostBytes, maxEntries: number): Promise<ArchiveFacts> {
  const zip = await open(bytes)
  // Each takes that much room at least.
  if (zip.entryCount * DIRECTORY_ENTRY > bytes.size)
    throw new Error(`it tells of ${zip.entryCount} members, which it has no room for`)
  const entries: ArchiveEntry[] = []
  let [seen, sum, encrypted] = [0, 0, false]
  const whole = zip.entryCount <= MAX_COUNTED
  for await (const entry of entriesOf(zip)) {
    seen += 1
    sum += entry.uncompressedSize
    encrypted ||= entry.isEncrypted()
    if (entries.length < maxEntries) entries.push(listed(entry))
    else if (!whole) break
  }
  if (whole && hasMore(bytes, zip)) throw new Error(`it tells of ${seen} members, but its directory holds more`)
  return { format: 'zip', entries, encrypted, count: whole ? seen : zip.entryCount, ...(whole && { bytes: sum }) }
}

/** Whether another entry follows the last one that was told of. */
function hasMore(bytes: HostBytes, zip: ZipFile): boolean {
  const signature = Buffer.alloc(4)
  const { readEntryCursor } = zip as unknown as { readEntryCursor: number }
  return bytes.readInto(signature, readEntryCursor) === 4 && signature.toString('latin1') === 'PK\x01\x02'
}

class PulledReader extends RandomAccessReader {
  readonly #bytes: HostBytes

  constructor(bytes: HostBytes) {
    super()
    this.#bytes = bytes
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null) => void): void {
    const got = this.#bytes.readInto(buffer.subarray(offset, offset + length), position)
    setImmediate(callback, got < length ? new Error('it ends too early') : null)
  }
}

function open(bytes: HostBytes): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    // Names are shown as they are, however bad.
    const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: false }
    fromRandomAccessReader(new PulledReader(bytes), bytes.size, options, (error, zip) => (error ? reject(error) : resolve(zip)))
  })
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (;;) {
    const entry = await new Promise<Entry | undefined>((resolve, reject) => {
      zip
        .once('entry', resolve)
        .once('end', () => resolve(undefined))
        .once('error', reject)
      zip.readEntry()
    })
    zip.removeAllListeners()
    if (entry === undefined) return
    yield entry
  }
}

function listed(entry: Entry): ArchiveEntry {
  const path = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true)
  const link = ((entry.externalFileAttributes >>> 16) & TYPE_MASK) === LINK
  return { path, folder: path.endsWith('/'), size: entry.uncompressedSize, ...(link && { link: '' }) }
}
