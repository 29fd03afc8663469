import type { Expanded } from './expanded.ts'
import { Members, Refusal } from './members.ts'
import { readTar } from './read-tar.ts'
import { readZip } from './read-zip.ts'
import type { ArchiveFormat, ArchiveJob } from './reader-protocol.ts'

/** Expands an archive within the job's bounds; throws a `Refusal` for one that is broken or not to be trusted. */
export async function* readArchive(job: ArchiveJob): AsyncGenerator<Expanded> {
  const { bytes, maxEntries, maxBytes } = job
  const format = formatOf(job)
  const members = new Members({ maxEntries, maxBytes })
  const source = format === 'zip' ? readZip(bytes, members) : readTar(bytes, members, { gzip: format === 'tar.gz' })
  try {
    for await (const part of source) {
      if ('data' in part) members.count(part.data.length)
      yield part
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new Refusal(
      'invalid_argument',
      `The archive can not be read as ${format}: ${why}.`,
      'Pack it again: zip, tar or tar.gz.',
    )
  }
}

function formatOf({ format, bytes }: ArchiveJob): ArchiveFormat {
  const found = sniff(bytes)
  if (found === undefined)
    throw new Refusal('invalid_argument', 'The archive is neither zip nor tar nor tar.gz.', 'Pack it as one of them.')
  if (format !== undefined && format !== found)
    throw new Refusal('invalid_argument', `The archive is ${found}, not ${format}.`, 'Leave "format" out, or correct it.')
  return found
}

/** The format that the first bytes tell. */
export function sniff(bytes: Uint8Array): ArchiveFormat | undefined {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return 'zip'
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'tar.gz'
  return bytes.length >= 512 && isTarHeader(bytes.subarray(0, 512)) ? 'tar' : undefined
}

/** Old tars have no magic word: the checksum of the header tells. */
function isTarHeader(header: Uint8Array): boolean {
  const text = Buffer.from(header.subarray(148, 156))
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
  if (!/^ *[0-7]+$/.test(text)) return false
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
  return sum === Number.parseInt(text, 8)
}
