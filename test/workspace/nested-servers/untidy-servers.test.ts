import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../support/processes.ts'
import { createSupervisorBench, fake, UNNAMED } from './harness.ts'

let bench: Awaited<ReturnType<typeof createSupervisorBench>>

beforeAll(async () => {
  bench = await createSupervisorBench()
})
afterAll(() => bench.dispose())

const count = (journal: string, part: string) => readFileSync(journal, 'utf8').split(part).length - 1

describe('a server', () => {
  it('whose list changes at every look is added at once, and looked at ever more rarely', async () => {
    const journal = join(bench.freshRoot(), 'journal')
    const { nested, client } = bench.host()
    expect(await nested.add(UNNAMED, fake('restless', { journal, restless: true }))).toMatchObject({ tools: 11 })
    await sleep(700)
    expect(count(journal, '"tools/list"')).toBeLessThanOrEqual(5)
    const c = client()
    await c.attachment.ready()
    await c.callTool('restless', 'grow')
    await until(() => c.attachment.servers()[0]?.lists.tools?.length === 12, 'a real change is seen')
    await nested.remove(UNNAMED, 'restless')
  })

  it('that lists what the protocol does not allow has its other tools shown, a note, and all its tools called', async () => {
    const { nested, client } = bench.host()
    const odd = [{ name: 'no-schema' }, { name: 'odd', inputSchema: { type: 'object' }, description: null }, 'text']
    const status = await nested.add(UNNAMED, fake('odd', { odd, tools: ['echo'] }))
    expect(status.warnings).toEqual([
      'Of its tools, "no-schema" is left out: the protocol does not allow its inputSchema.',
      'Of its tools, "odd" is shown without its description, which the protocol does not allow.',
    ])
    const c = client()
    await c.attachment.ready()
    expect(c.attachment.servers()[0]?.lists.tools?.map(({ name }) => name)).toEqual(['echo', 'odd'])
    expect(await c.callTool('odd', 'no-schema')).toBe('no no-schema')
  })

  it('never sees a request that was cancelled before it ran', async () => {
    const journal = join(bench.freshRoot(), 'journal')
    const { client } = bench.host({ defaults: [fake('slow', { journal, startDelayMs: 400 })] })
    const c = client()
    await c.attachment.ready()
    c.attachment.send('slow', { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'count' } })
    c.attachment.send('slow', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'x' } })
    expect(await c.callTool('slow', 'count')).toBe('1')
    expect(count(journal, '"tools/call"')).toBe(1)
  })
})

describe('a server that runs for another host, or from an earlier one', () => {
  const host = (root: string, more = {}) => bench.host({ root, owner: 'server', ...more })
  const states = async (nested: ReturnType<typeof host>['nested'], scope = UNNAMED) =>
    (await nested.list(scope)).map(({ name, state }) => `${name} ${state}`)

  it('is shown as running, and heard, before anybody calls it', async () => {
    const root = bench.freshRoot()
    const before = host(root)
    await before.nested.add(UNNAMED, fake('one'))
    const c = before.client()
    const said = { method: 'notifications/message', params: { level: 'info', data: 'meanwhile' } }
    await c.callTool('one', 'later', { afterMs: 300, ...said })
    await before.close('detach')
    await sleep(500)
    const after = host(root)
    const next = after.client()
    await next.attachment.ready()
    expect(await states(after.nested)).toEqual(['one ready'])
    await until(() => next.received.some(({ message }) => message.method === said.method), 'what it said meanwhile')
    await after.nested.remove(UNNAMED, 'one')
  })

  it('ends when its declaration is removed, or its session or agent purged', async () => {
    const root = bench.freshRoot()
    const [alice, bob] = [
      { agent: 'alice', session: 's' },
      { agent: 'bob', session: 's' },
    ]
    const before = host(root)
    for (const scope of [UNNAMED, alice, bob]) await before.nested.add(scope, fake('one'))
    await before.nested.add(bob, fake('two'))
    await before.close('detach')
    const after = host(root)
    const running = async () => {
      const watcher = host(root)
      const all = await Promise.all([UNNAMED, alice, bob].map(scope => states(watcher.nested, scope)))
      await watcher.close('detach')
      return all
    }
    expect(await running()).toEqual([['one ready'], ['one ready'], ['one ready', 'two ready']])
    expect(await after.nested.remove(UNNAMED, 'one')).toBe(true)
    await after.nested.purgeSession(alice)
    expect(await running()).toEqual([[], [], ['one ready', 'two ready']])
    await after.nested.purgeAgent('bob')
    expect(await running()).toEqual([[], [], []])
    // Added anew, each is a new one.
    await after.nested.add(bob, fake('one'))
    expect(await after.client(bob).callTool('one', 'count')).toBe('1')
  })

  it('goes on where two hosts add the very same one at once, and only one can', async () => {
    const root = bench.freshRoot()
    const hosts = [host(root), host(root)]
    const added = await Promise.allSettled(hosts.map(({ nested }) => nested.add(UNNAMED, fake('same'))))
    expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    for (const { nested } of hosts) expect(await states(nested)).toEqual(['same ready'])
    await hosts[0]?.nested.remove(UNNAMED, 'same')
  })

  it('takes no room from others when it is joined', async () => {
    const root = bench.freshRoot()
    const other = { agent: 'other', session: '' }
    const defaults = [fake('one')]
    const before = host(root, { defaults, maxLive: 2 })
    expect(await before.client().callTool('one', 'count')).toBe('1')
    expect(await before.client(other).callTool('one', 'count')).toBe('1')
    await before.close('detach')
    const after = host(root, { defaults, maxLive: 2 })
    for (const scope of [UNNAMED, other]) expect(await after.client(scope).callTool('one', 'count')).toBe('2')
  })
})
