import { createWorld, MISSING } from '../daytona/support.ts'
import type { FaultPlace, FaultWorld } from './place.ts'

/** The stand-in, under the real SDK. */
export const daytona: FaultPlace = {
  name: 'daytona',
  missing: MISSING,
  async start(): Promise<FaultWorld> {
    const world = await createWorld()
    const environments = async () => (await world.sandboxes()).map(({ id }) => id)
    const { base, gatewayScript: script, account, backend, spec, clear, remove } = world
    return {
      ...{ base, script, backend, spec, clear, remove, environments, left: environments, secret: account.apiKey },
      settings: account,
      get faults() {
        return world.faults
      },
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
      deeds: {
        paused: ({ info }) => world.behind('stop', info.incarnation ?? ''),
        expired: ({ info }) => world.behind('idle', info.incarnation ?? ''),
        removed: ({ info }) => world.behind('delete', info.incarnation ?? ''),
      },
    }
  },
}
