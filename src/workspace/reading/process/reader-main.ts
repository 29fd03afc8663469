import { once } from 'node:events'
import { READING_LIMITS } from '../reading-limits.ts'
import { editNotebook } from './edit-notebook.ts'
import { HostBytes } from './host-bytes.ts'
import { listArchive } from './list-archive.ts'
import { isPng } from './plain-png.ts'
import type { ReaderJob, ReaderMessage } from './protocol.ts'
import { loadSharp, readImage } from './read-image.ts'
import { readNotebook } from './read-notebook.ts'
import { readPdf } from './read-pdf.ts'
import { Refusal } from './refusal.ts'
import { limitSelf } from './self-limit.ts'

const { memoryBytes, workMs } = READING_LIMITS

/** Entry of the process that reads one file for a host: the first message is its one job. It ends with the channel to its host. */
async function main(): Promise<void> {
  const [job] = (await once(process, 'message')) as [ReaderJob]
  // Images are decoded in threads of the library's own.
  limitSelf({ maxBytes: memoryBytes, maxMs: workMs }, { beside: job.kind !== 'image' })
  try {
    for await (const message of work(job, new HostBytes(job.size))) await send(message)
  } catch (error) {
    await send(error instanceof Refusal ? error.answer : failure(error))
  }
  process.disconnect()
}

async function* work(job: ReaderJob, bytes: HostBytes): AsyncGenerator<ReaderMessage> {
  switch (job.kind) {
    case 'image':
      // Before the file is fetched.
      if (!isPng(bytes.first(8)) || job.size > job.maxBytes) await loadSharp()
      yield { kind: 'image', ...(await readImage(bytes.all(), job)) }
      return
    case 'pdf':
      yield* readPdf(bytes, job)
      return
    case 'notebook':
      yield { kind: 'notebook', ...(await readNotebook(bytes.all(), job)) }
      return
    case 'notebook-edit':
      yield { kind: 'change', change: editNotebook(bytes.all(), job) }
      return
    case 'archive':
      yield { kind: 'archive', ...(await listArchive(bytes, job)) }
  }
}

function failure(error: unknown): ReaderMessage {
  const why = error instanceof Error ? error.message : String(error)
  return { kind: 'refused', code: 'unsupported', message: `It can't be read: ${why.split('\n')[0]?.slice(0, 200)}.` }
}

function send(message: ReaderMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send!(message, undefined, undefined, error => (error === null || error === undefined ? resolve() : reject(error)))
  })
}

await main()
