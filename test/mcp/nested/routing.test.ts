import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { JsonRpcMessage, JsonRpcRequest } from '../../../src/mcp/message.ts'
import { Announcer } from '../../../src/mcp/nested/announcer.ts'
import { Catalogue } from '../../../src/mcp/nested/catalogue.ts'
import { candidateOf, Origins } from '../../../src/mcp/nested/routes.ts'
import type { Claim, Emit, Upstream } from '../../../src/mcp/relay.ts'
import { Router } from '../../../src/mcp/router.ts'

interface Fake extends Upstream {
  received: { message: JsonRpcMessage; claim: unknown }[]
  emit: Emit
}

function fake(owns: Upstream['owns'], items: unknown[] = []): Fake {
  const upstream: Fake = {
    name: 'fake',
    received: [],
    emit: () => {},
    owns,
    lists: () => true,
    receive(message, claim) {
      upstream.received.push({ message, claim })
      if ('id' in message && 'method' in message && message.method === 'tools/list')
        upstream.emit({ jsonrpc: '2.0', id: message.id, result: { tools: items } })
    },
    connect(emit) {
      upstream.emit = emit
    },
    close: async () => {},
  }
  return upstream
}

function setUp(nested: Fake, own = fake(() => true), pageSize?: number) {
  const sent: JsonRpcMessage[] = []
  const router = new Router({ own, upstreams: [nested], send: message => sent.push(message), ...(pageSize && { pageSize }) })
  return { own, sent, router }
}

const call = (id: number): JsonRpcRequest => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 't' } })

describe('a request whose server must be found out first', () => {
  it('goes there with what was found', async () => {
    const claim = { server: 'a' }
    const nested = fake(async () => claim)
    const { own, router } = setUp(nested)
    router.fromClient(call(1))
    expect(router.inFlight).toBe(1)
    await turn()
    expect(nested.received).toMatchObject([{ message: { method: 'tools/call' }, claim }])
    expect(own.received).toEqual([])
  })

  it('goes to our own server when it is nobody else’s', async () => {
    const nested = fake(async () => undefined)
    const { own, router } = setUp(nested)
    router.fromClient(call(1))
    await turn()
    expect(own.received).toHaveLength(1)
  })

  it('goes nowhere once it was cancelled, and its id can be used again', async () => {
    const decisions: ((claim: Claim) => void)[] = []
    const nested = fake(() => new Promise(resolve => decisions.push(resolve)))
    const { router } = setUp(nested)
    router.fromClient(call(1))
    router.fromClient({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    router.fromClient(call(1))
    decisions[0]?.(true)
    await turn()
    expect(nested.received).toEqual([])
    decisions[1]?.(true)
    await turn()
    expect(nested.received).toHaveLength(1)
  })

  it('is answered with the fault where it can not be found out', async () => {
    const { router, sent } = setUp(fake(() => Promise.reject(new Error('no idea'))))
    router.fromClient(call(1))
    await turn()
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no idea' } }])
  })
})

describe('a merged list', () => {
  const tools = (from: number, count: number) => Array.from({ length: count }, (_, index) => ({ name: `t${from + index}` }))
  const list = (id: number, cursor?: string): JsonRpcRequest => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/list',
    params: cursor === undefined ? {} : { cursor },
  })

  it('comes in pages with cursors of its own, nothing twice and nothing lost', () => {
    const nested = fake(() => undefined, tools(3, 5))
    const { own, router, sent } = setUp(
      nested,
      fake(() => true, tools(0, 3)),
      3,
    )
    const seen: unknown[] = []
    let cursor: string | undefined
    let id = 0
    do {
      id += 1
      router.fromClient(list(id, cursor))
      const { result } = sent.at(-1) as { result: { tools: unknown[]; nextCursor?: string } }
      seen.push(...result.tools)
      cursor = result.nextCursor
    } while (cursor !== undefined)
    expect(seen).toEqual(tools(0, 8))
    expect(id).toBe(3)
    for (const { message } of [...own.received, ...nested.received]) expect(message).not.toHaveProperty('params.cursor')
  })

  it('refuses a cursor that is not its own', () => {
    const { router, sent } = setUp(fake(() => undefined))
    router.fromClient(list(1, 'page-7'))
    expect(sent).toMatchObject([{ id: 1, error: { code: -32602, message: expect.stringContaining('page-7') } }])
  })
})

describe('news of changed lists', () => {
  const own = { tools: new Set<string>(), prompts: new Set<string>() }
  const catalogue = (...names: string[]) =>
    new Catalogue([{ name: 's', expose: 'prefixed', lists: { tools: names.map(name => ({ name })) } }], own)

  it('come once a turn, for what differs from what the client was shown', async () => {
    const told: string[] = []
    const announcer = new Announcer(kind => void told.push(kind))
    announcer.now(catalogue('a'))
    announcer.know('tools', catalogue('a', 'b').lists.tools)
    announcer.now(catalogue('a', 'b'))
    await turn()
    expect(told).toEqual([])
    announcer.now(catalogue('a'))
    announcer.told('tools')
    announcer.told('prompts')
    await turn()
    expect(told).toEqual(['tools', 'prompts'])
  })

  it('do not come after the end', async () => {
    const told: string[] = []
    const announcer = new Announcer(kind => void told.push(kind))
    announcer.told('tools')
    announcer.close()
    await turn()
    expect(told).toEqual([])
  })
})

describe('where a request goes', () => {
  const known = { own: { tools: new Set(['Bash']), prompts: new Set(['p']) }, tasks: new Origins(), resources: new Origins() }
  const catalogue = new Catalogue(
    [{ name: 's', expose: 'prefixed', lists: { tools: [{ name: 't' }], prompts: [{ name: 'q' }] } }],
    {
      tools: known.own.tools,
      prompts: known.own.prompts,
    },
  )
  const route = (method: string, params: Record<string, unknown>) => {
    const found = candidateOf(method, params, known)?.find(catalogue)
    return found && { server: found.server, params: found.rewrite(params) }
  }

  it.each([
    ['tools/call', { name: 'Bash' }],
    ['tools/call', { name: 'mcp_call', arguments: { server: 's' } }],
    ['tools/call', { name: 'mcp_call', arguments: { server: 's', tool: 't', unknown: 1 } }],
    ['prompts/get', { name: 'p' }],
    ['resources/read', { uri: 'workspace://x' }],
    ['no/such', {}],
  ])('our own: %s %j', (method, params) => expect(candidateOf(method, params, known)).toBeUndefined())

  it.each([
    [
      'tools/call',
      { name: 'mcp__s__t', arguments: { x: 1 }, _meta: { m: 1 } },
      { name: 't', arguments: { x: 1 }, _meta: { m: 1 } },
    ],
    [
      'tools/call',
      { name: 'mcp_call', arguments: { server: 's', tool: 't' }, _meta: {} },
      { name: 't', arguments: {}, _meta: {} },
    ],
    [
      'tools/call',
      { name: 'mcp_call', arguments: { server: 's', tool: 't', arguments: '{"x":1}' } },
      { name: 't', arguments: { x: 1 } },
    ],
    ['prompts/get', { name: 'mcp__s__q' }, { name: 'q' }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'mcp__s__q', title: 'x' } },
      { ref: { type: 'ref/prompt', name: 'q', title: 'x' } },
    ],
    ['example.com/own', { _meta: { 'atelier/server': 's' }, x: 1 }, { _meta: { 'atelier/server': 's' }, x: 1 }],
  ])('to the server: %s %j', (method, params, there) => expect(route(method, params)).toEqual({ server: 's', params: there }))
})
