import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { createWorld, IMAGE, MISSING } from '../kubernetes/support.ts'
import type { FaultPlace, FaultWorld } from './place.ts'

interface Config {
  clusters: { cluster: { server: string; 'certificate-authority-data'?: string; 'insecure-skip-tls-verify'?: boolean } }[]
  users: { user: { token: string } }[]
}

/** A real cluster whose API server is behind a proxy that misbehaves. */
export const kubernetes: FaultPlace = {
  name: 'kubernetes',
  missing: MISSING,
  async start(): Promise<FaultWorld> {
    const world = createWorld()
    const config = JSON.parse(world.config()) as Config
    const [{ cluster } = { cluster: { server: '' } }] = config.clusters
    const { hostname: host, port } = new URL(cluster.server)
    const ca = Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64')
    const errorAnswer = (code: number, message: string) => ({ kind: 'Status', apiVersion: 'v1', code, message })
    const proxy = await startFaultProxy({ host, port: Number(port), ca }, { errorAnswer })
    const kubeconfig = join(world.base, 'through-proxy')
    const through = { server: proxy.url, 'insecure-skip-tls-verify': true }
    writeFileSync(kubeconfig, JSON.stringify({ ...config, clusters: [{ name: 'test', cluster: through }] }))
    const settings = { kubeconfig, dataDir: world.dataDir, image: IMAGE }
    const left = async () => world.left()
    const pod = (name = '', ...flags: string[]) => world.kubectl(['delete', 'pod', name, ...flags])
    return {
      ...{ faults: proxy.faults, settings, base: world.base, script: world.script, left },
      secret: config.users[0]?.user.token ?? '',
      requests: {
        look: '^GET .*/(pods|persistentvolumeclaims)/[^/?]+(\\?|$)',
        create: '^POST .*/pods(\\?|$)',
        inside: '^(GET|POST) .*/exec\\?',
        stream: '^(GET|POST) .*/exec\\?',
      },
      steps: {
        'marks its volume': { match: '^PATCH .*/persistentvolumeclaims/' },
        'makes its volume': { match: '^POST .*/persistentvolumeclaims' },
        'makes its Pod': { match: '^POST .*/pods(\\?|$)' },
        'waits for its Pod': { match: '^GET .*/pods/[^/?]+(\\?|$)', nth: 2 },
        'puts the gateway in': { match: '/exec\\?' },
        'notes that it runs': { match: '^PATCH .*/persistentvolumeclaims/', nth: 2 },
        'opens the link': { match: '/exec\\?', nth: 2 },
      },
      deeds: {
        paused: async ({ info }) => pod(info.details.pod, '--wait=false'),
        removed: async ({ info }) => pod(info.details.pod, '--force', '--grace-period=0'),
      },
      backend: options => world.backend({ kubeconfig, ...options }),
      spec: id => world.spec(id),
      environments: async () => world.left().filter(name => name.startsWith('Pod ')),
      clear: async () => world.clear(),
      async remove() {
        await proxy[Symbol.asyncDispose]()
        world.remove()
      },
    }
  },
}
