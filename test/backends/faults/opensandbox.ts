import { createWorld, IMAGE, MISSING } from '../opensandbox/support.ts'
import type { FaultPlace, FaultWorld } from './place.ts'

/** A host that is at work hands out sooner. */
const LEFT_MS = 4_000

/** The real server behind a front that misbehaves. */
export const opensandbox: FaultPlace = {
  name: 'opensandbox',
  missing: MISSING ?? '',
  async start(): Promise<FaultWorld> {
    const world = await createWorld()
    const { base, script, front, apiKey, backend, spec, clear, remove, sandboxes } = world
    const tell = async (deed: string, id = '') => {
      const answer = await fetch(`${front.url}/__faults/${deed}/${id}`, { method: 'POST' })
      if (!answer.ok) throw new Error(`${deed} ${id}: ${answer.status} ${await answer.text()}`)
    }
    return {
      backend: options => backend({ leftMs: LEFT_MS, ...options }),
      ...{ base, script, spec, clear, remove, environments: sandboxes, left: sandboxes },
      ...{ faults: front.faults, secret: apiKey, settings: { domain: front.domain, apiKey, image: IMAGE } },
      requests: {
        look: '^GET /v1/sandboxes\\?',
        create: '^POST /v1/sandboxes$',
        inside: '^POST /direct/.*/pty$',
        stream: '^GET /direct/.*/ws',
      },
      steps: {
        'looks for it': { match: '^GET /v1/sandboxes\\?' },
        'makes it': { match: '^POST /v1/sandboxes$' },
        'asks where it is': { match: '/endpoints/' },
        'prepares it': { match: '^POST /direct/.*/pty$' },
        'looks for others': { match: '^GET /v1/sandboxes\\?', nth: 2 },
        'hands it out': { match: '^PATCH ' },
        'puts the gateway in': { match: '/files/upload' },
        'opens the link': { match: '^GET /direct/.*/ws' },
      },
      deeds: {
        paused: ({ info }) => tell('pause', info.incarnation),
        expired: ({ info }) => tell('expire', info.incarnation),
        removed: ({ info }) => tell('expire', info.incarnation),
      },
    }
  },
}
