import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RequestMap } from '../../../src/gateway/nested/request-map.ts'

describe('the map of requests', () => {
  const request = (id: string | number, params?: Record<string, unknown>) => {
    return { jsonrpc: '2.0' as const, id, method: 'm', ...(params === undefined ? {} : { params }) }
  }

  it('gives every party its own ids and tokens back, whatever they are', () => {
    const id = fc.oneof(fc.string(), fc.integer())
    fc.assert(
      fc.property(
        fc.array(fc.record({ party: fc.constantFrom('a', 'b'), id, token: fc.option(fc.anything()) }), { maxLength: 20 }),
        sent => {
          const map = new RequestMap<string>()
          const open = sent.map(({ party, id: original, token }) => {
            return map.open(party, request(original, token === null ? { x: 1 } : { x: 1, _meta: { progressToken: token, y: 2 } }))
          })
          expect(new Set(open.map(each => each.mapped.id)).size).toBe(sent.length)
          for (const [index, each] of open.entries()) {
            const { party, id: original, token } = sent[index] as (typeof sent)[number]
            const progress = map.progress({
              jsonrpc: '2.0',
              method: 'notifications/progress',
              params: { progressToken: each.id, progress: 1 },
            })
            if (token === null || token === undefined) expect(progress).toBeUndefined()
            else expect(progress?.message.params).toEqual({ progressToken: token, progress: 1 })
            const answer = map.answer({ jsonrpc: '2.0', id: each.id, result: {} })
            expect(answer).toMatchObject({ sent: { party }, message: { id: original } })
            expect(map.answer({ jsonrpc: '2.0', id: each.id, result: {} })).toBeUndefined()
          }
          expect(map.size).toBe(0)
        },
      ),
    )
  })

  it('tells a call from what is read in the background after it', () => {
    const map = new RequestMap<string>()
    const open = (party: string, method: string) => map.open(party, { ...request(1), method })
    const list = open('a', 'tools/list')
    expect(map.latestCall?.party).toBe('a')
    const call = open('b', 'tools/call')
    for (const method of ['resources/templates/list', 'prompts/list', 'logging/setLevel']) open('a', method)
    expect(map.latestCall).toBe(call)
    map.drop(list.id)
    map.drop(call.id)
    expect(map.latestCall?.method).toBe('logging/setLevel')
  })

  it('changes nothing of a message but id and token', () => {
    const map = new RequestMap<string>()
    const params = { name: 'x', arguments: { _meta: { progressToken: 'inner' } }, _meta: { z: 1, progressToken: 't', a: 2 } }
    const { mapped, id } = map.open('a', { ...request('q', params), extra: true } as never)
    expect(JSON.stringify(mapped)).toBe(
      `{"jsonrpc":"2.0","id":${id},"method":"m","params":{"name":"x","arguments":{"_meta":{"progressToken":"inner"}},"_meta":{"z":1,"progressToken":${id},"a":2}},"extra":true}`,
    )
  })

  it('rewrites a cancellation for its own party alone, and passes a late answer on', () => {
    const map = new RequestMap<string>()
    const { id } = map.open('a', request(0))
    const cancel = { jsonrpc: '2.0' as const, method: 'notifications/cancelled', params: { requestId: 0, reason: 'r' } }
    expect(map.cancel('b', cancel)).toBeUndefined()
    expect(map.cancel('a', cancel)?.message.params).toEqual({ requestId: id, reason: 'r' })
    expect(map.size).toBe(0)
    expect(map.answer({ jsonrpc: '2.0', id, result: 1 })?.message.id).toBe(0)
  })

  it('passes the progress of a task on after its answer', () => {
    const map = new RequestMap<string>()
    const { id } = map.open('a', request(1, { task: {}, _meta: { progressToken: 't' } }))
    map.answer({ jsonrpc: '2.0', id, result: { task: {} } })
    const progress = { jsonrpc: '2.0' as const, method: 'notifications/progress', params: { progressToken: id } }
    expect(map.progress(progress)?.message.params?.progressToken).toBe('t')
  })

  it('forgets all of a party that leaves', () => {
    const map = new RequestMap<string>()
    const { id } = map.open('a', request(1))
    map.open('b', request(1))
    expect(map.take('a').map(sent => sent.id)).toEqual([id])
    expect(map.answer({ jsonrpc: '2.0', id, result: 1 })).toBeUndefined()
    expect(map.size).toBe(1)
  })
})
