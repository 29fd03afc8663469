import { createWorld, MISSING } from '../daytona/support.ts'
import type { FaultPlace, FaultWorld } from './place.ts'
import { standInWorld } from './stand-in.ts'

/** The stand-in, under the real SDK. */
export const daytona: FaultPlace = {
  name: 'daytona',
  missing: MISSING,
  async start(): Promise<FaultWorld> {
    const world = await createWorld()
    const environments = async () => (await world.sandboxes()).map(({ id }) => id)
    return standInWorld(world, {
      environments,
      requests: {
        look: '^GET /api/sandbox',
        create: '^POST /api/sandbox$',
        inside: 'process/execute',
        stream: '/connect',
      },
      steps: {
        'looks for it': { match: '^GET /api/sandbox/atelier' },
        'makes it': { match: '^POST /api/sandbox$' },
        'waits for it': { match: '^GET /api/sandbox/[0-9a-f-]{36}' },
        'prepares it': { match: 'process/execute' },
        'puts the gateway in': { match: 'files/bulk-upload' },
        'prepares the link': { match: '^POST .*/process/pty$' },
        'opens the link': { match: '/connect' },
      },
      deeds: { paused: 'stop', expired: 'idle', removed: 'delete' },
    })
  },
}
