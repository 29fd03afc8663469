import type { Readable } from 'node:stream'
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'
import type { Expanded } from './expanded.ts'
import { type Members, type MemberType, modeOf, Refusal } from './members.ts'

const TYPE_MASK = 0o170000
const REGULAR = 0o100000
const FOLDER = 0o040000

/** Expands a zip, in the order of its directory. */
export async function* readZip(bytes: Uint8Array, members: Members): AsyncGenerator<Expanded> {
  const zip = await open(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  try {
    for await (const entry of entriesOf(zip)) {
      const path = members.admit(entry.fileName, typeOf(entry))
      if (path === undefined) continue
      if (entry.isEncrypted()) throw new Refusal('unsupported', `The archive's member ${JSON.stringify(path)} is encrypted.`)
      const mode = modeOf(entry.externalFileAttributes >>> 16)
      yield { path, mode }
      for await (const data of await contentOf(zip, entry)) yield { data: data as Buffer }
    }
  } finally {
    zip.close()
  }
}

function open(bytes: Buffer): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    // Names are checked by us, for every format alike.
    const options = { lazyEntries: true, autoClose: false, strictFileNames: true, decodeStrings: true, validateEntrySizes: true }
    fromBuffer(bytes, options, (error, zip) => (error ? reject(error) : resolve(zip)))
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

function typeOf(entry: Entry): MemberType {
  const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK
  if (type === FOLDER || entry.fileName.endsWith('/')) return 'directory'
  // Archivers without Unix modes write none.
  return type === REGULAR || type === 0 ? 'file' : 'other'
}

function contentOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)))
  })
}
