import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { createWorld, IMAGE, MISSING } from '../docker/support.ts'
import type { FaultPlace, FaultWorld } from './place.ts'

const ENGINE = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '')

/** A real engine behind a proxy that misbehaves. */
export const docker: FaultPlace = {
  name: 'docker',
  missing: MISSING,
  async start(): Promise<FaultWorld> {
    const world = await createWorld()
    const errorAnswer = (_: number, message: string) => ({ message })
    const proxy = await startFaultProxy({ socketPath: ENGINE }, { at: join(world.base, 'engine.sock'), errorAnswer })
    const settings = { host: proxy.url, dataDir: world.dataDir, image: IMAGE }
    const environments = async () => (await world.containers()).map(({ Names: [name = ''] }) => name)
    const folder = join(world.dataDir, 'workspaces')
    const container = async () => world.container()
    return {
      ...{ faults: proxy.faults, settings, base: world.base, script: world.script, environments, clear: world.clear },
      requests: {
        look: '^GET /containers/[^/]+/json',
        create: '^POST /containers/create',
        inside: '^PUT /containers/[^/]+/archive',
        stream: '^POST /exec/[^/]+/start',
      },
      steps: {
        'looks for it': { match: '^GET /containers/[^/]+/json' },
        'looks for the image': { match: '^GET /images/' },
        'makes it': { match: '^POST /containers/create' },
        'puts the gateway in': { match: '^PUT /containers/[^/]+/archive' },
        'starts it': { match: '^POST /containers/[^/]+/start' },
        'prepares the link': { match: '^POST /containers/[^/]+/exec' },
        'opens the link': { match: '^POST /exec/[^/]+/start' },
      },
      deeds: {
        paused: async () => (await container()).stop({ t: 1 }),
        removed: async () => (await container()).remove({ force: true, v: true }),
      },
      backend: options => world.backend({ host: proxy.url, ...options }),
      spec: id => world.spec(id),
      left: async () => [...(await environments()), ...(existsSync(folder) ? readdirSync(folder) : [])],
      async remove() {
        await proxy[Symbol.asyncDispose]()
        await world.remove()
      },
    }
  },
}
