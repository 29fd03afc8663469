import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonRpcMessage, JsonRpcRequest, RequestId } from '../../src/mcp/message.ts'
import { type Emit, progressTokenOf, type Upstream } from '../../src/mcp/relay.ts'
import { Router } from '../../src/mcp/router.ts'

interface FakeUpstream extends Upstream {
  received: JsonRpcMessage[]
  emit: Emit
  closed: boolean
}

function fakeUpstream(name: string, owned: string[] = [], lists = true): FakeUpstream {
  const upstream: FakeUpstream = {
    name,
    received: [],
    emit: () => {},
    closed: false,
    owns: (method, params) => method === 'tools/call' && owned.includes(String(params.name)),
    lists: () => lists,
    receive: message => void upstream.received.push(message),
    connect(emit) {
      upstream.emit = emit
    },
    async close() {
      upstream.closed = true
    },
  }
  return upstream
}

function setUp(nested: FakeUpstream[] = []) {
  const own = fakeUpstream('own')
  const sent: { message: JsonRpcMessage; related: RequestId | undefined }[] = []
  const router = new Router({ own, upstreams: nested, send: (message, related) => sent.push({ message, related }) })
  return { own, sent, router }
}

const call = (id: RequestId, name: string, meta?: object): JsonRpcRequest => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, ...(meta !== undefined && { _meta: meta }) },
})

describe('router', () => {
  it('gives a request to the upstream that owns it, the rest to our own', () => {
    const nested = fakeUpstream('n', ['theirs'])
    const { own, router } = setUp([nested])
    router.fromClient(call(1, 'theirs'))
    router.fromClient(call(2, 'ours'))
    expect(nested.received).toMatchObject([{ method: 'tools/call', params: { name: 'theirs' } }])
    expect(own.received).toMatchObject([{ method: 'tools/call', params: { name: 'ours' } }])
  })

  it('maps any id there and back, whatever its type, and keeps the answer as it is', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(fc.integer(), fc.string()), { minLength: 1, maxLength: 20 }), ids => {
        const { own, router, sent } = setUp()
        for (const id of ids) router.fromClient(call(id, `t-${typeof id}-${id}`))
        const requests = own.received as JsonRpcRequest[]
        expect(new Set(requests.map(request => request.id)).size).toBe(ids.length)
        for (const request of [...requests].reverse()) {
          own.emit({ jsonrpc: '2.0', id: request.id, result: { for: request.params?.name, odd: null } })
        }
        const got = sent.map(({ message }) => message).reverse()
        expect(got).toEqual(ids.map(id => ({ jsonrpc: '2.0', id, result: { for: `t-${typeof id}-${id}`, odd: null } })))
        expect(router.inFlight).toBe(0)
      }),
    )
  })

  it('keeps progress tokens of two upstreams apart, with all other fields, before the answer', () => {
    const nested = fakeUpstream('n', ['theirs'])
    const { own, router, sent } = setUp([nested])
    router.fromClient(call('a', 'theirs', { progressToken: 0, extra: true }))
    router.fromClient(call('b', 'ours', { progressToken: 'tok' }))
    const [theirs, ours] = [nested.received[0], own.received[0]] as JsonRpcRequest[]
    const tokenOf = (request: JsonRpcRequest | undefined) => progressTokenOf(request?.params)
    expect(theirs?.params?._meta).toMatchObject({ extra: true })
    expect(tokenOf(theirs)).not.toBe(tokenOf(ours))
    const progress = (token: unknown) => ({ progressToken: token, progress: 1, x: [1] })
    own.emit({ jsonrpc: '2.0', method: 'notifications/progress', params: progress(tokenOf(theirs)) })
    expect(sent).toEqual([])
    nested.emit({ jsonrpc: '2.0', method: 'notifications/progress', params: progress(tokenOf(theirs)) })
    nested.emit({ jsonrpc: '2.0', id: theirs!.id, result: {} })
    nested.emit({ jsonrpc: '2.0', method: 'notifications/progress', params: progress(tokenOf(theirs)) })
    expect(sent).toEqual([
      { message: { jsonrpc: '2.0', method: 'notifications/progress', params: progress(0) }, related: 'a' },
      { message: { jsonrpc: '2.0', id: 'a', result: {} }, related: 'a' },
    ])
  })

  it('merges lists of all upstreams; one that fails hides nothing', () => {
    const [first, broken] = [fakeUpstream('n'), fakeUpstream('b')]
    const { own, router, sent } = setUp([first, broken, fakeUpstream('none', [], false)])
    router.fromClient({ jsonrpc: '2.0', id: 9, method: 'tools/list' })
    const idOf = (upstream: FakeUpstream) => (upstream.received[0] as JsonRpcRequest).id
    broken.emit({ jsonrpc: '2.0', id: idOf(broken), error: { code: -1, message: 'no' } })
    first.emit({ jsonrpc: '2.0', id: idOf(first), result: { tools: [{ name: 'b', $odd: 1 }] } })
    expect(sent).toEqual([])
    own.emit({ jsonrpc: '2.0', id: idOf(own), result: { tools: [{ name: 'a' }] } })
    expect(sent.map(({ message }) => message)).toEqual([
      { jsonrpc: '2.0', id: 9, result: { tools: [{ name: 'a' }, { name: 'b', $odd: 1 }] } },
    ])
  })

  it('forwards a cancellation to all parts of a request, and drops their late answers', () => {
    const nested = fakeUpstream('n')
    const { own, router, sent } = setUp([nested])
    router.fromClient({ jsonrpc: '2.0', id: 0, method: 'tools/list' })
    router.fromClient({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0, reason: 'x', odd: 1 } })
    for (const upstream of [own, nested]) {
      const { id } = upstream.received[0] as JsonRpcRequest
      expect(upstream.received[1]).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id, reason: 'x', odd: 1 },
      })
      upstream.emit({ jsonrpc: '2.0', id, result: {} })
    }
    expect(sent).toEqual([])
    expect(router.inFlight).toBe(0)
  })

  it('refuses an id that is in flight and takes it again afterwards', () => {
    const { own, router, sent } = setUp()
    router.fromClient(call(5, 'a'))
    router.fromClient(call(5, 'b'))
    expect(sent).toMatchObject([{ message: { id: 5, error: { code: -32600 } } }])
    own.emit({ jsonrpc: '2.0', id: (own.received[0] as JsonRpcRequest).id, result: {} })
    router.fromClient(call(5, 'c'))
    expect(own.received).toHaveLength(2)
  })

  it('carries requests of upstreams to the client, with their own ids, tokens and cancellations', () => {
    const nested = fakeUpstream('n', ['theirs'])
    const { own, router, sent } = setUp([nested])
    router.fromClient(call('c', 'theirs'))
    const inner = nested.received[0] as JsonRpcRequest
    const ask = (id: RequestId) => ({
      jsonrpc: '2.0' as const,
      id,
      method: 'sampling/createMessage',
      params: { _meta: { progressToken: 7 } },
    })
    nested.emit(ask(1), inner.id as number)
    own.emit(ask(1))
    const [one, two] = sent.map(({ message }) => message) as JsonRpcRequest[]
    expect(sent.map(({ related }) => related)).toEqual(['c', undefined])
    expect(one?.id).not.toBe(two?.id)
    router.fromClient({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: one?.id, progress: 1 } })
    router.fromClient({ jsonrpc: '2.0', id: one!.id, result: { ok: 1 } })
    router.fromClient({ jsonrpc: '2.0', id: one!.id, result: { ok: 2 } })
    expect(nested.received.slice(1)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 7, progress: 1 } },
      { jsonrpc: '2.0', id: 1, result: { ok: 1 } },
    ])
    own.emit({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    expect(sent.at(-1)?.message).toEqual({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: two?.id } })
  })

  it('ignores answers of the wrong upstream, second ones and unknown ones', () => {
    const nested = fakeUpstream('n', ['theirs'])
    const { own, router, sent } = setUp([nested])
    router.fromClient(call(1, 'theirs'))
    const { id } = nested.received[0] as JsonRpcRequest
    own.emit({ jsonrpc: '2.0', id, result: 'stolen' })
    nested.emit({ jsonrpc: '2.0', id: 99, result: 'unknown' })
    nested.emit({ jsonrpc: '2.0', id, result: 'right' })
    nested.emit({ jsonrpc: '2.0', id, result: 'again' })
    expect(sent.map(({ message }) => message)).toEqual([{ jsonrpc: '2.0', id: 1, result: 'right' }])
  })

  it('sends other notifications to everybody, and closes all', async () => {
    const nested = fakeUpstream('n')
    const { own, router } = setUp([nested])
    router.fromClient({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' })
    expect([own.received.length, nested.received.length]).toEqual([1, 1])
    await router.close()
    expect([own.closed, nested.closed]).toEqual([true, true])
  })
})
