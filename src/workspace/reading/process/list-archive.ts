import type { ArchiveFacts } from '../view.ts'
import type { HostBytes } from './host-bytes.ts'
import { listTar } from './list-tar.ts'
import { listZip } from './list-zip.ts'
import type { ArchiveJob } from './protocol.ts'
import { Refusal } from './refusal.ts'

/** What an archive holds, without expanding more than the listing takes. Throws a `Refusal` for a broken one. */
export async function listArchive(bytes: HostBytes, job: ArchiveJob): Promise<ArchiveFacts> {
  try {
    return job.format === 'zip'
      ? await listZip(bytes, job.maxEntries)
      : await listTar(bytes, { gzip: job.format === 'gzip', maxEntries: job.maxEntries })
  } catch (error) {
    if (error instanceof Refusal) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new Refusal('unsupported', `The archive can't be listed: ${why}.`, 'It is damaged, or not complete.')
  }
}
