import { createWorld, MISSING } from '../e2b/support.ts'
import type { FaultPlace, FaultWorld } from './place.ts'
import { standInWorld } from './stand-in.ts'

/** The stand-in, under the real SDK. */
export const e2b: FaultPlace = {
  name: 'e2b',
  missing: MISSING,
  async start(): Promise<FaultWorld> {
    const world = await createWorld()
    const environments = async () => (await world.sandboxes()).map(({ sandboxId }) => sandboxId)
    return standInWorld(world, {
      environments,
      requests: {
        look: '^GET /v2/sandboxes',
        create: '^POST /v2/sandboxes$',
        inside: '^POST /process.Process/Start',
        stream: '^POST /process.Process/(Start|StreamInput)',
      },
      steps: {
        'looks for it': { match: '^GET /v2/sandboxes' },
        'makes it': { match: '^POST /v2/sandboxes$' },
        'prepares it': { match: '^POST /process.Process/Start' },
        'looks for others': { match: '^GET /v2/sandboxes', nth: 2 },
        'puts the gateway in': { match: '^POST /files' },
        'opens the link': { match: '^POST /process.Process/StreamInput' },
      },
      deeds: { paused: 'pause', expired: 'expire', removed: 'kill' },
    })
  },
}
