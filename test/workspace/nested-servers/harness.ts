// biome-ignore-all lint/suspicious/noExplicitAny: messages are read as they come
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { silentLogger } from '../../../src/lib/log.ts'
import type { GatewayCalls } from '../../../src/workspace/environment-link.ts'
import { GatewayNews } from '../../../src/workspace/gateway-news.ts'
import { createNestedServers, type NestedServersOptions } from '../../../src/workspace/nested-servers/nested-servers.ts'
import type { NestedMessage, NestedScope, NestedServers, ServerDeclaration } from '../../../src/workspace/nested-servers/port.ts'
import { createBench } from '../../link/support.ts'
import { until } from '../../support/processes.ts'

const FAKE_SERVER = fileURLToPath(new URL('../../support/fake-mcp-server.mjs', import.meta.url))
export const UNNAMED: NestedScope = { agent: '', session: '' }

/** A declaration of the fake server that behaves as told. */
export function fake(name: string, how: object = {}, more: Partial<ServerDeclaration> = {}): ServerDeclaration {
  return { name, command: process.execPath, args: [FAKE_SERVER, JSON.stringify({ name, ...how })], ...more }
}

/** One host with a supervisor of its own, on a gateway that several share. */
export interface SupervisedHost {
  nested: NestedServers & { reset(): void }
  close(mode: 'end' | 'detach'): Promise<void>
  /** A client of a scope. */
  client(scope?: NestedScope): Client
}

export interface Client {
  attachment: ReturnType<NestedServers['attach']>
  received: { server: string; message: any; related: unknown }[]
  ask(server: string, method: string, params?: object): Promise<any>
  callTool(server: string, name: string, args?: object): Promise<any>
}

export interface HostSettings extends Partial<NestedServersOptions> {
  owner?: string
  /** Runs before each call of the gateway, which waits for it. */
  before?(method: string, params: object): Promise<void> | undefined
}

export async function createSupervisorBench() {
  const bench = await createBench('real')
  const hosts: SupervisedHost[] = []
  let roots = 0
  const freshRoot = () => {
    const root = join(bench.dir, '..', `root-${++roots}`)
    mkdirSync(root, { recursive: true })
    return root
  }
  const host = (settings: HostSettings = {}): SupervisedHost => {
    const news = new GatewayNews()
    const client = bench.connect({
      owner: settings.owner ?? 'o',
      env: { PATH: process.env.PATH ?? '', HOME: bench.dir, OF_WORKSPACE: 'w' },
      events: news.events(),
    })
    const call: GatewayCalls['call'] = async (method, params, options) => {
      await settings.before?.(method, params)
      return client.call(method, params, options)
    }
    const nested = createNestedServers({ call }, news, {
      ...{ defaults: [], variables: { host: {}, secrets: {} }, logger: silentLogger, maxLive: 0 },
      ...settings,
      root: settings.root ?? freshRoot(),
    })
    const one: SupervisedHost = {
      nested,
      async close(mode) {
        nested.dispose()
        await client.close(mode)
      },
      client: (scope = UNNAMED) => attach(nested, scope),
    }
    hosts.push(one)
    return one
  }
  return {
    ...{ host, freshRoot },
    async dispose() {
      await Promise.all(hosts.map(each => each.close('end')))
      await bench.dispose()
    },
  }
}

function attach(nested: NestedServers, scope: NestedScope): Client {
  const received: Client['received'] = []
  let lastId = 0
  const attachment = nested.attach(scope, {
    message: (server, message, related) => received.push({ server, message, related }),
    changed: () => {},
  })
  const client: Client = {
    ...{ attachment, received },
    async ask(server, method, params) {
      const id = `c${++lastId}`
      attachment.send(server, { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) } as NestedMessage)
      const answer = () => received.find(({ message }) => !('method' in message) && message.id === id)
      await until(() => answer() !== undefined, `${method} of ${server} is answered`, 60_000)
      return answer()?.message
    },
    async callTool(server, name, args = {}) {
      const { result, error } = await client.ask(server, 'tools/call', { name, arguments: args })
      if (error !== undefined) throw new Error(error.message)
      return result.content[0].text
    },
  }
  return client
}
