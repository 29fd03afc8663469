import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Candidate, whoMakesRoom } from '../../../src/gateway/nested/make-room.ts'
import { until } from '../../support/processes.ts'
import { createNestedBench, type Host } from './harness.ts'

const scopeOf = (agent: string) => ({ agent, session: '' })

describe('who makes room', () => {
  const server = (agent: string, idleMs: number, idle = true): Candidate => ({ params: { scope: scopeOf(agent) }, idle, idleMs })
  const [oldest, newer, busy, besideBusy] = [server('a', 900), server('b', 50), server('c', 0, false), server('c', 999)]

  it.each([
    ['nobody while there is room', [oldest, newer], 'd', 3, []],
    ['the least recently used scope', [newer, oldest], 'd', 2, [oldest]],
    ['as many as it takes', [newer, oldest], 'd', 1, [oldest, newer]],
    ['nobody of the scope that asks', [oldest, newer], 'a', 2, [newer]],
    ['nobody of a scope of which a server is in use', [busy, besideBusy, newer], 'd', 1, [newer]],
    ['a scope by the server of it that was used last', [server('a', 1), oldest, newer], 'd', 3, [newer]],
  ])('is %s', (_, running, agent, maxLive, expected) => {
    expect(whoMakesRoom(running, scopeOf(agent), maxLive)).toEqual(expected)
  })
})

describe('a gateway at the bound of servers', () => {
  let bench: Awaited<ReturnType<typeof createNestedBench>>
  beforeAll(async () => {
    bench = await createNestedBench()
  }, 120_000)
  afterAll(() => bench?.dispose(), 60_000)

  const start = async (host: Host, agent: string) => (await host.start({}, { scope: scopeOf(agent), maxLive: 1 })).server
  const running = async ({ client }: Host) => (await client.call('nested.list', {})).servers.map(({ server }) => server).sort()

  it('ends no server between its start and the first message, and then the one that idles, and says why', async () => {
    const [first, second] = [bench.connect('a'), bench.connect('b')]
    const [mine, other] = [await start(first, 'a'), await start(second, 'b')]
    expect(await running(first)).toEqual([mine, other].sort())
    expect(await first.callTool(mine, 'count')).toBe('1')
    const third = await start(second, 'c')
    expect(await running(first)).toEqual([other, third].sort())
    await until(() => first.exits.length > 0, 'its host is told')
    const reason = 'it made room for the server "fake" of another agent or session'
    expect(first.exits).toEqual([{ server: mine, reason, stderrTail: '', stopped: true }])
    await expect(first.callTool(mine, 'count')).rejects.toMatchObject({ code: 'not_found' })
    for (const server of [other, third]) await second.client.call('nested.stop', { server })
  }, 60_000)

  it('ends no server that has a request it got before', async () => {
    const [first, second] = [bench.connect('a'), bench.connect('b')]
    const mine = await start(first, 'a')
    const sent = first.send(mine, { id: 1, method: 'tools/call', params: { name: 'hang' } })
    const [other] = await Promise.all([sent.then(() => start(second, 'b')), sent])
    expect(await running(first)).toEqual([mine, other].sort())
    for (const server of [mine, other]) await second.client.call('nested.stop', { server })
  }, 60_000)

  it('frees what a host took and left without a word', async () => {
    const [first, second] = [bench.connect('a'), bench.connect('b')]
    const mine = await start(first, 'a')
    await first.client.close('end')
    const other = await start(second, 'b')
    expect(await running(second)).toEqual([other])
    expect(mine).not.toBe(other)
    await second.client.call('nested.stop', { server: other })
  }, 60_000)
})

describe('the reason of a stop', () => {
  it('is what its host says, also to who waits for an answer', async () => {
    const bench = await createNestedBench()
    try {
      const host = bench.connect()
      const { server } = await host.start()
      const asked = host.ask(server, 'tools/call', { name: 'hang', arguments: {} })
      await until(async () => (await host.client.call('nested.list', {})).servers[0]?.inFlight === 1, 'the call is there')
      await host.client.call('nested.stop', { server, reason: 'it was removed' })
      expect((await asked).error?.message).toBe('The nested server "fake" did not answer: it was removed.')
      expect(host.exits).toMatchObject([{ server, reason: 'it was removed', stopped: true }])
    } finally {
      await bench.dispose()
    }
  }, 60_000)
})
