import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runStandIn } from '../shared/main.ts'
import { startFront } from './front.ts'
import { makeExecdImage } from './image.ts'
import { removeSandboxes, startServer } from './server.ts'

/** Sandboxes may mount what tests have. */
const TESTS = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

// The real server, with a front for faults; DOMAIN and key are those of the environment that the SDK reads.
await runStandIn(async ({ port, stateDir, image, mounts }) => {
  makeExecdImage(image ?? process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest')
  const apiKey = process.env.OPEN_SANDBOX_API_KEY || 'stand-in-key'
  const allowed = [tmpdir(), TESTS, ...mounts.map(({ source }) => source)]
  const server = await startServer({ dir: join(stateDir, 'opensandbox'), apiKey, mounts: allowed })
  const front = await startFront(server, port)
  return {
    url: front.url,
    removeAll: () => removeSandboxes(join(stateDir, 'opensandbox')),
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]()
      await server.stop()
    },
  }
})
