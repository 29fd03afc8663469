// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are meant for declarations
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../support/processes.ts'
import { createSupervisorBench, fake, UNNAMED } from './harness.ts'

describe('the supervisor of nested servers', () => {
  let bench: Awaited<ReturnType<typeof createSupervisorBench>>

  beforeAll(async () => {
    bench = await createSupervisorBench()
  }, 120_000)
  afterAll(() => bench?.dispose(), 60_000)

  const alice = { agent: 'alice', session: 's1' }
  const bob = { agent: 'bob', session: 's2' }
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)
  const mcp = (root: string) => JSON.parse(readFileSync(join(root, '.mcp'), 'utf8')).mcps

  it('starts nothing before it is needed, and answers when it is', async () => {
    const { nested, client } = bench.host({ defaults: [fake('one'), fake('two', { silent: true })] })
    expect((await nested.list(UNNAMED)).map(({ name, state, source }) => [name, state, source])).toEqual([
      ['one', 'stopped', 'config'],
      ['two', 'stopped', 'config'],
    ])
    const c = client()
    expect(await c.callTool('one', 'echo', { value: 'x' })).toBe('x')
    await until(() => c.attachment.servers()[0]?.lists.tools !== undefined, 'its tools are kept')
    expect(await nested.list(UNNAMED)).toMatchObject([
      { name: 'one', state: 'ready', instructions: 'Use it with care.', serverInfo: { name: 'one' }, tools: 11 },
      { name: 'two', state: 'stopped' },
    ])
  })

  it('keeps private instances per scope, and the answers of several clients apart', async () => {
    const { client } = bench.host({ defaults: [fake('counter')] })
    const [a, again, b] = [client(alice), client(alice), client(bob)]
    expect(await a.callTool('counter', 'count')).toBe('1')
    expect(await again.callTool('counter', 'count')).toBe('2')
    expect(await b.callTool('counter', 'count')).toBe('1')
    await again.callTool('counter', 'tell', { method: 'notifications/message', params: { level: 'info', data: 'hi' } })
    await until(() => a.received.some(({ message }) => message.method === 'notifications/message'), 'all clients of it hear news')
    expect(b.received.some(({ message }) => message.method === 'notifications/message')).toBe(false)
  })

  it('adds what it can connect to, for its scope alone, and lists the defaults with it', async () => {
    const root = bench.freshRoot()
    const { nested } = bench.host({ root, defaults: [fake('web')] })
    await nested.list(alice)
    expect(existsSync(join(root, '.mcp'))).toBe(false)
    const added = await nested.add(alice, fake('extra', {}, { expose: 'bare', startTimeoutMs: 20_000 }))
    expect(added).toMatchObject({ name: 'extra', state: 'ready', source: 'added', expose: 'bare', tools: 11 })
    expect(names(await nested.list(alice))).toEqual(['web', 'extra'])
    expect(names(await nested.list(bob))).toEqual(['web'])
    expect(Object.keys(mcp(root))).toEqual(['alice'])
    expect(names(mcp(root).alice.s1)).toEqual(['web', 'extra'])
    await expect(nested.add(alice, fake('extra'))).rejects.toMatchObject({ code: 'already_exists' })
    await nested.add(bob, fake('extra'))
    // Another host finds what the file has no room for as well.
    const [, extra] = await bench.host({ root, defaults: [fake('web')], owner: 'p' }).nested.list(alice)
    expect(extra).toMatchObject({ expose: 'bare', declaration: { startTimeoutMs: 20_000 } })
  })

  it('takes over what changed on disk, and loses nothing that is being added meanwhile', async () => {
    const root = bench.freshRoot()
    const { nested, client } = bench.host({ root })
    await nested.add(UNNAMED, fake('one'))
    const { attachment, callTool } = client()
    const file = JSON.parse(readFileSync(join(root, '.mcp'), 'utf8'))
    const [entry] = file.mcps['']['']
    file.mcps[''][''] = [{ ...entry, name: 'two' }]
    writeFileSync(join(root, '.mcp'), JSON.stringify(file))
    expect(await attachment.refresh()).toEqual(['two'])
    expect(names(attachment.servers())).toEqual(['two'])
    expect(await attachment.refresh()).toEqual([])
    const adding = nested.add(UNNAMED, fake('three'))
    let over = false
    const looking = async () => {
      while (!over) await attachment.refresh()
    }
    const looked = looking()
    await adding
    expect(await callTool('three', 'count')).toBe('1')
    over = true
    await looked
    expect(await callTool('three', 'count')).toBe('2')
    expect(names(await nested.list(UNNAMED))).toEqual(['two', 'three'])
  })

  it('records nothing that can not be connected to', async () => {
    const root = bench.freshRoot()
    const { nested } = bench.host({ root })
    await expect(nested.add(UNNAMED, fake('bad', { crashAtStart: true }))).rejects.toThrow(
      /bad" could not be started.*exit code 7.*no configuration/s,
    )
    await expect(nested.add(UNNAMED, { name: 'none', command: 'no-such-program' })).rejects.toMatchObject({
      message: expect.stringContaining('is not on the PATH'),
      hint: 'Put that right, then call again; mcp_list shows what it wrote.',
    })
    await expect(nested.add(UNNAMED, { name: 'x y', command: 'true' })).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await nested.list(UNNAMED)).toEqual([])
    expect(existsSync(join(root, '.mcp'))).toBe(false)
  })

  it('leaves an emptied scope empty, and gives the defaults back to a purged one', async () => {
    const root = bench.freshRoot()
    const { nested } = bench.host({ root, defaults: [fake('web')] })
    expect(await nested.remove(bob, 'web')).toBe(true)
    expect(await nested.remove(bob, 'web')).toBe(false)
    const restarted = bench.host({ root, defaults: [fake('web')] }).nested
    expect(await restarted.list(bob)).toEqual([])
    expect(names(await restarted.list(alice))).toEqual(['web'])
    await restarted.purgeSession(bob)
    expect(names(await restarted.list(bob))).toEqual(['web'])
    await restarted.remove(bob, 'web')
    await restarted.purgeAgent('bob')
    expect(names(await restarted.list(bob))).toEqual(['web'])
    expect(mcp(root)).toEqual({})
  })

  it('loses no declaration of several hosts that write at once', async () => {
    const root = bench.freshRoot()
    const hosts = [bench.host({ root }), bench.host({ root, owner: 'p' }), bench.host({ root, owner: 'q' })]
    const added = hosts.flatMap(({ nested }, index) =>
      ['a', 'b', 'c'].map(letter => nested.add(UNNAMED, fake(`${letter}${index}`))),
    )
    await Promise.all(added)
    expect(names(mcp(root)['']['']).sort()).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2', 'c0', 'c1', 'c2'])
  }, 60_000)

  it('skips, reports and keeps an entry that it can not use; a file that it can not read gives the defaults', async () => {
    const root = bench.freshRoot()
    const bad = { name: 'bad', is_stateful: true, mcp_config: { type: 'stdio_mcp' } }
    writeFileSync(join(root, '.mcp'), JSON.stringify({ version: 2, mcps: { '': { '': [bad] } } }))
    const { nested } = bench.host({ root })
    await nested.add(UNNAMED, fake('good'))
    const [good, skipped] = await nested.list(UNNAMED)
    expect(good).toMatchObject({ name: 'good', state: 'ready' })
    expect(skipped).toMatchObject({ name: 'bad', state: 'failed', reason: expect.stringMatching(/no command/) })
    expect(mcp(root)[''][''][0]).toEqual(bad)

    const other = bench.freshRoot()
    writeFileSync(join(other, '.mcp'), '{ "mcps": ')
    const broken = bench.host({ root: other, defaults: [fake('web')] }).nested
    expect(names(await broken.list(UNNAMED))).toEqual(['web'])
    await broken.remove(UNNAMED, 'web')
    expect(mcp(other)).toEqual({ '': { '': [] } })
    expect(readFileSync(join(other, '.atelier/mcp-unreadable.json'), 'utf8')).toBe('{ "mcps": ')
  })

  it("fills in the host's variables for the operator alone, listed secrets and the workspace's own for all", async () => {
    const variables = { host: { HOST_ONLY: 'h', SHARED: 's' }, secrets: { SHARED: 's' } }
    const declared = fake('operator', {}, { env: { A: '${HOST_ONLY}', B: '${NONE:-b}' } })
    const { nested, client } = bench.host({ variables, defaults: [declared] })
    const environment = async (name: string) => JSON.parse(await client().callTool(name, 'environment')).env
    expect(await environment('operator')).toMatchObject({ A: 'h', B: 'b' })
    await nested.add(UNNAMED, fake('agent', {}, { env: { A: '${SHARED}', B: '${OF_WORKSPACE}' } }))
    expect(await environment('agent')).toMatchObject({ A: 's', B: 'w' })
    await expect(nested.add(UNNAMED, fake('thief', {}, { env: { A: '${HOST_ONLY}' } }))).rejects.toThrow(
      /HOST_ONLY \(in its variable A\)/,
    )
    const statuses = await nested.list(UNNAMED)
    expect(statuses[0]).toMatchObject({ source: 'config', declaration: { env: { A: '${HOST_ONLY}' } } })
    expect(statuses[1]).toMatchObject({ source: 'added' })
  })

  it('follows pages, leaves out what is turned off, and reads a list anew when it changed', async () => {
    const { nested, client } = bench.host({
      defaults: [fake('paged', { pageSize: 2 }, { disableTools: ['hang'] }), fake('few', {}, { enableTools: ['echo', 'grow'] })],
    })
    const c = client()
    await c.callTool('paged', 'echo')
    const tools = (index: number) => c.attachment.servers()[index]?.lists.tools?.map(({ name }) => name)
    await until(() => tools(0)?.length === 10, 'all pages are there')
    expect(tools(0)).not.toContain('hang')
    expect((await c.ask('paged', 'tools/call', { name: 'hang' })).error.message).toMatch(/turned off/)
    await c.callTool('paged', 'grow')
    await until(
      () => c.received.some(({ message }) => message.method === 'notifications/tools/list_changed'),
      'the change is told',
    )
    expect(tools(0)).toContain('extra_1')
    await c.callTool('few', 'echo')
    await until(() => tools(1)?.length === 2, 'only two are on')
    expect((await nested.list(UNNAMED))[1]).toMatchObject({ tools: 2 })
  })

  it('ends a hung call at its limit, and lets progress put it off', async () => {
    const journal = join(bench.freshRoot(), 'journal')
    const { client } = bench.host({ defaults: [fake('slow', { journal }, { callTimeoutMs: 700 })] })
    const c = client()
    const { error } = await c.ask('slow', 'tools/call', { name: 'hang' })
    expect(error).toEqual({ code: -32001, message: expect.stringMatching(/"slow" did not answer tools\/call within 700 ms/) })
    await until(() => readFileSync(journal, 'utf8').includes('notifications/cancelled'), 'the server is told')
    const params = { name: 'progress', arguments: { steps: 8, everyMs: 200 }, _meta: { progressToken: 't' } }
    expect((await c.ask('slow', 'tools/call', params)).result.content[0].text).toBe('done')
    const told = c.received.filter(({ message }) => message.method === 'notifications/progress')
    expect(told).toHaveLength(8)
    expect(told[0]).toMatchObject({ related: 'c2', message: { params: { progressToken: 't', progress: 1 } } })
  })

  it('starts a server again that ended, and one that ends after each call', async () => {
    const { nested, client } = bench.host({ defaults: [fake('dies'), fake('once', { exitAfterCalls: true })] })
    const c = client()
    expect((await c.ask('dies', 'tools/call', { name: 'exit', arguments: { code: 3 } })).error.message).toMatch(/exit code 3/)
    await until(async () => (await nested.list(UNNAMED))[0]?.state === 'stopped', 'its end is seen')
    expect((await nested.list(UNNAMED))[0]?.reason).toMatch(/exit code 3/)
    expect(await c.callTool('dies', 'count')).toBe('1')
    for (let round = 0; round < 4; round++) expect(await c.callTool('once', 'count')).toBe('1')
  })

  it('leaves a server alone that keeps failing, and says so with what it wrote', async () => {
    const { nested, client } = bench.host({ defaults: [fake('broken', { crashAtStart: true }), fake('fine')] })
    const c = client()
    for (let round = 0; round < 3; round++) {
      expect((await c.ask('broken', 'tools/list')).error.message).toMatch(/could not be started: it ended with exit code 7/)
    }
    const next = (await c.ask('broken', 'tools/list')).error.message
    expect(next).toMatch(/could not be started|failed \d times in a row/)
    expect(await c.callTool('fine', 'echo', { value: 1 })).toBe('1')
    expect((await nested.list(UNNAMED))[0]).toMatchObject({
      ...{ state: 'failed', stderrTail: 'fatal: no configuration', reason: expect.stringMatching(/exit code 7/) },
    })
  }, 30_000)

  it('makes room by ending the least recently used other scope, never a busy one', async () => {
    const { nested, client } = bench.host({ defaults: [fake('a'), fake('b')], maxLive: 1, root: bench.freshRoot() })
    const [one, two] = [client(alice), client(bob)]
    await one.callTool('a', 'count')
    const state = async (scope: typeof alice) => (await nested.list(scope)).map(each => each.state)
    await two.callTool('a', 'count')
    await until(async () => (await state(alice))[0] === 'stopped', 'the other scope made room')
    const hanging = two.ask('a', 'tools/call', { name: 'progress', arguments: { steps: 100, everyMs: 50 } })
    await one.callTool('b', 'count')
    expect((await state(bob))[0]).toBe('ready')
    expect((await hanging).result).toBeDefined()
    expect(await one.callTool('a', 'count')).toBe('1')
  }, 30_000)

  it('starts a server again that made room for another host while a call was on its way to it', async () => {
    const settings = { defaults: [fake('a')], maxLive: 1, root: bench.freshRoot() }
    let meanwhile: (() => Promise<unknown>) | undefined
    const before = (method: string, params: { message?: { method?: string } }): Promise<void> | undefined => {
      if (method !== 'nested.send' || params.message?.method !== 'tools/call') return undefined
      const work = meanwhile?.()
      meanwhile = undefined
      return work?.then(() => {})
    }
    const [first, second] = [bench.host({ ...settings, before }), bench.host({ ...settings, owner: 'p' })]
    const [carol, dave] = [
      { agent: 'carol', session: '' },
      { agent: 'dave', session: '' },
    ]
    const [one, two] = [first.client(carol), second.client(dave)]
    expect(await one.callTool('a', 'count')).toBe('1')
    expect(await one.callTool('a', 'count')).toBe('2')
    meanwhile = () => two.callTool('a', 'count')
    expect(await one.callTool('a', 'count')).toBe('1')
    const [status] = await second.nested.list(dave)
    expect(status).toMatchObject({ state: 'stopped', reason: expect.stringMatching(/made room for the server "a" of another/) })
    // It did not fail: nothing is waited for.
    expect(await two.callTool('a', 'count')).toBe('1')
  }, 30_000)

  it('takes a server over after a restart of the host, with its state and without a second initialize', async () => {
    const journal = join(bench.freshRoot(), 'journal')
    const root = bench.freshRoot()
    const defaults = [fake('stateful', { journal })]
    const before = bench.host({ root, defaults, owner: 'server' })
    expect(await before.client().callTool('stateful', 'count')).toBe('1')
    await before.close('detach')
    const after = bench.host({ root, defaults, owner: 'server' })
    expect(await after.client().callTool('stateful', 'count')).toBe('2')
    const lines = readFileSync(journal, 'utf8').split('\n')
    expect(lines.filter(line => line.includes('"initialize"'))).toHaveLength(1)
    expect((await after.nested.list(UNNAMED))[0]).toMatchObject({ state: 'ready', serverInfo: { name: 'stateful' } })
  })

  it('asks the client whose call it is, and refuses what nobody can answer', async () => {
    const { client } = bench.host({ defaults: [fake('curious')] })
    const [asked, idle] = [client(), client()]
    const call = asked.callTool('curious', 'ask', { method: 'sampling/createMessage', params: { messages: [] } })
    await until(() => asked.received.some(({ message }) => message.method === 'sampling/createMessage'), 'it is asked')
    const { message } = asked.received.find(each => each.message.method === 'sampling/createMessage') ?? { message: {} }
    asked.attachment.send('curious', { jsonrpc: '2.0', id: message.id, result: { role: 'assistant' } })
    expect(JSON.parse(await call)).toEqual({ role: 'assistant' })
    expect(idle.received.filter(each => each.message.method === 'sampling/createMessage')).toEqual([])
  })

  it('cancels what a client that leaves has in flight', async () => {
    const journal = join(bench.freshRoot(), 'journal')
    const { client } = bench.host({ defaults: [fake('left', { journal })] })
    const c = client()
    c.attachment.send('left', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } })
    await until(() => existsSync(journal) && readFileSync(journal, 'utf8').includes('"hang"'), 'the call arrives')
    c.attachment.close()
    await until(() => readFileSync(journal, 'utf8').includes('The client has left'), 'it is cancelled')
  })

  it('lists many servers, broken and hanging ones among them, without waiting, and starts them side by side', async () => {
    const defaults = Array.from({ length: 20 }, (_, index) => fake(`s${index}`, { startDelayMs: 300 }))
    const broken = [fake('b1', { crashAtStart: true }), fake('b2', { refuse: 'no' }), { name: 'b3', command: 'no-such-program' }]
    const { nested, client } = bench.host({
      defaults: [...defaults, ...broken, fake('hangs', { silent: true }, { startTimeoutMs: 60_000 })],
    })
    const c = client()
    await c.attachment.ready()
    const starts = c.attachment.servers().map(({ name }) => c.attachment.ensure(name))
    for (const start of starts) start.catch(() => {})
    const listed = performance.now()
    expect(await nested.list(UNNAMED)).toHaveLength(24)
    expect(performance.now() - listed).toBeLessThan(5_000)
    const outcomes = await Promise.allSettled(starts.slice(0, 23))
    expect(outcomes.map(({ status }) => status)).toEqual([...Array(20).fill('fulfilled'), ...Array(3).fill('rejected')])
    const states = (await nested.list(UNNAMED)).map(({ state }) => state)
    expect(states).toEqual([...Array(20).fill('ready'), ...Array(3).fill('failed'), 'starting'])
    // The one that hangs ends with its declaration.
    await nested.remove(UNNAMED, 'hangs')
    await expect(starts[23]).rejects.toMatchObject({ code: 'cancelled' })
  }, 60_000)

  it('answers for a server that is not there, with what was meant', async () => {
    const c = bench.host({ defaults: [fake('filesystem')] }).client()
    const { error } = await c.ask('file-system', 'tools/list')
    expect(error.message).toMatch(/no nested server "file-system".*Did you mean "filesystem"/s)
    await expect(c.attachment.ensure('nothing')).rejects.toMatchObject({ code: 'not_found' })
  })
})
