import { describe, expect, it } from 'vitest'
import { ClientRequests } from '../../src/mcp/client-requests.ts'
import type { JsonRpcNotification, JsonRpcRequest } from '../../src/mcp/message.ts'

function bench() {
  const sent: { message: JsonRpcRequest | JsonRpcNotification; related: number | undefined }[] = []
  const requests = new ClientRequests((message, related) => sent.push({ message, related }))
  const idOf = (at: number) => (sent[at] as { message: JsonRpcRequest }).message.id
  return { requests, sent, idOf }
}

const LONG = { limitMs: 60_000 }

describe('our own requests to the client', () => {
  it('give the result, each its own', async () => {
    const { requests, sent, idOf } = bench()
    const first = requests.ask('roots/list', {}, LONG)
    const second = requests.ask('elicitation/create', { message: 'Do it?' }, { ...LONG, related: 7 })
    requests.answered({ jsonrpc: '2.0', id: idOf(1), result: { action: 'accept' } })
    requests.answered({ jsonrpc: '2.0', id: 99, result: {} })
    requests.answered({ jsonrpc: '2.0', id: idOf(0), result: { roots: [] } })
    expect(await first).toEqual({ roots: [] })
    expect(await second).toEqual({ action: 'accept' })
    expect(sent.map(({ related }) => related)).toEqual([undefined, 7])
  })

  it("fail with the client's error, and with what is no result", async () => {
    const { requests, idOf } = bench()
    const refused = requests.ask('roots/list', {}, LONG)
    requests.answered({ jsonrpc: '2.0', id: idOf(0), error: { code: -32601, message: 'no roots' } })
    await expect(refused).rejects.toMatchObject({ code: -32601, message: 'no roots' })
    const odd = requests.ask('roots/list', {}, LONG)
    requests.answered({ jsonrpc: '2.0', id: idOf(1), result: 'yes' })
    await expect(odd).rejects.toMatchObject({ code: 'protocol' })
  })

  it('tell the client when nobody waits any more', async () => {
    const { requests, sent } = bench()
    const call = new AbortController()
    const asked = requests.ask('elicitation/create', {}, { ...LONG, signal: call.signal, related: 3 })
    call.abort()
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
    const late = requests.ask('elicitation/create', {}, { limitMs: 20 })
    await expect(late).rejects.toMatchObject({ code: 'timeout' })
    const told = sent.filter(({ message }) => message.method === 'notifications/cancelled')
    expect(told.map(({ message, related }) => [message.params?.requestId, related])).toEqual([
      [1, 3],
      [2, undefined],
    ])
  })

  it('end with the session', async () => {
    const { requests } = bench()
    const asked = requests.ask('roots/list', {}, LONG)
    requests.close()
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('are not made on an aborted signal', async () => {
    const { requests } = bench()
    await expect(requests.ask('roots/list', {}, { ...LONG, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    })
  })
})
