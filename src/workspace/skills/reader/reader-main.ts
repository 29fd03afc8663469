import { once } from 'node:events'
import { Refusal } from './members.ts'
import { parseFrontmatter } from './parse-frontmatter.ts'
import { readArchive } from './read-archive.ts'
import type { ArchiveJob, ReaderJob, ReaderMessage } from './reader-protocol.ts'

/** Entry of the process that reads untrusted formats: the first message is its one job. It ends with the channel to its host. */
async function main(): Promise<void> {
  const [job] = (await once(process, 'message')) as [ReaderJob]
  if (job.kind === 'frontmatter') await send({ kind: 'frontmatter', results: job.texts.map(parseFrontmatter) })
  else await expand(job)
  process.disconnect()
}

async function expand(job: ArchiveJob): Promise<void> {
  try {
    for await (const part of readArchive(job)) {
      if ('data' in part) {
        const asked = once(process, 'message')
        await send({ kind: 'data', data: part.data })
        await asked
      } else await send({ kind: 'file', ...part })
    }
    await send({ kind: 'done' })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    await send(error.answer)
  }
}

function send(message: ReaderMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send!(message, undefined, undefined, error => (error === null || error === undefined ? resolve() : reject(error)))
  })
}

await main()
