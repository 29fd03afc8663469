// biome-ignore-all lint/suspicious/noExplicitAny: messages are read as they come
import { fileURLToPath } from 'node:url'
import type {
  NestedExitedNews,
  NestedMessage,
  NestedMessageNews,
  NestedStartParams,
  NestedStartResult,
} from '../../../src/gateway/protocol.ts'
import type { GatewayClient } from '../../../src/link/gateway-client.ts'
import { createBench } from '../../link/support.ts'
import { until } from '../../support/processes.ts'

export const FAKE_SERVER = fileURLToPath(new URL('../../support/fake-mcp-server.mjs', import.meta.url))

/** Parameters that start the fake server, told how to behave. */
export function startOf(how: object = {}): NestedStartParams {
  return {
    scope: { agent: '', session: '' },
    ...{ name: 'fake', hash: JSON.stringify(how), budgetMs: 30_000 },
    declaration: { type: 'stdio', command: process.execPath, args: [FAKE_SERVER, JSON.stringify(how)], env: {} },
    initialize: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
}

type Answer = { result?: any; error?: { code: number; message: string } }

/** One host's link, with what nested servers told it. */
export interface Host {
  client: GatewayClient
  messages: NestedMessageNews[]
  exits: NestedExitedNews[]
  start(how?: object, params?: Partial<NestedStartParams>): Promise<NestedStartResult>
  send(server: string, message: object): Promise<unknown>
  /** A request and its answer. */
  ask(server: string, method: string, params?: object, options?: { id?: string | number }): Promise<Answer>
  callTool(server: string, name: string, args?: object): Promise<any>
  /** Messages of a method. */
  told(method: string): Record<string, any>[]
}

/** A real gateway for one test file, and hosts on it. */
export async function createNestedBench() {
  const bench = await createBench('real')
  const hosts: Host[] = []
  const connect = (owner = 'o', options: object = {}): Host => {
    const messages: NestedMessageNews[] = []
    const exits: NestedExitedNews[] = []
    const client = bench.connect({
      owner,
      env: { PATH: process.env.PATH ?? '', HOME: bench.dir, FROM_LINK: owner },
      events: {
        notification(name, params) {
          if (name === 'nested.message') messages.push(params as NestedMessageNews)
          if (name === 'nested.exited') exits.push(params as NestedExitedNews)
        },
      },
      ...options,
    })
    let lastId = 0
    const host: Host = {
      ...{ client, messages, exits },
      start: (how = {}, params = {}) => client.call('nested.start', { ...startOf(how), ...params }),
      send: (server, message) =>
        client.call('nested.send', { server, message: { jsonrpc: '2.0', ...message } as NestedMessage }, { ordered: true }),
      async ask(server, method, params, { id = ++lastId } = {}) {
        const answer = () =>
          messages.find(each => each.server === server && !('method' in each.message) && each.message.id === id)
        await host.send(server, { id, method, ...(params === undefined ? {} : { params }) })
        await until(() => answer() !== undefined, `${method} is answered`, 60_000)
        return answer()?.message as Answer
      },
      async callTool(server, name, args = {}) {
        const { result, error } = await host.ask(server, 'tools/call', { name, arguments: args })
        if (error !== undefined) throw new Error(error.message)
        return result.content[0].text
      },
      told: method =>
        messages.flatMap(({ message }) => ('method' in message && message.method === method ? [message as any] : [])),
    }
    hosts.push(host)
    return host
  }
  return {
    ...bench,
    connect,
    async dispose() {
      await Promise.all(hosts.map(({ client }) => client.close('end')))
      await bench.dispose()
    },
  }
}
