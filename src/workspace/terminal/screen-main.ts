import { once } from 'node:events'
import { renderScreen } from './render-screen.ts'
import type { ScreenJob } from './screen.ts'

/** Entry of the process that plays terminal logs: the first message is its one job, its answer the screen. */
async function main(): Promise<void> {
  const [job] = (await once(process, 'message')) as [ScreenJob]
  const screen = await renderScreen(job)
  await new Promise<void>((resolve, reject) => {
    process.send!(screen, undefined, undefined, error => (error === null || error === undefined ? resolve() : reject(error)))
  })
  process.disconnect()
}

await main()
