// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are meant for declarations
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAlive, processesNaming, until } from '../../support/processes.ts'
import { createNestedBench, FAKE_SERVER, type Host } from './harness.ts'

describe('nested servers on stdio', () => {
  let bench: Awaited<ReturnType<typeof createNestedBench>>
  let host: Host
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'atelier-nested-'))
    bench = await createNestedBench()
    host = bench.connect()
  }, 120_000)
  afterAll(async () => {
    await bench?.dispose()
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)

  const journal = (name: string) => join(folder, name)
  const lines = (name: string) => readFileSync(journal(name), 'utf8').trimEnd().split('\n')

  it('initializes once, and carries messages verbatim', async () => {
    const how = { journal: journal('verbatim') }
    const [first, second] = await Promise.all([host.start(how), host.start(how)])
    expect(first.server).toBe(second.server)
    expect([first.fresh, second.fresh].sort()).toEqual([false, true])
    expect(first.result).toMatchObject({ serverInfo: { name: 'fake' }, instructions: 'Use it with care.' })
    const { result } = await host.ask(first.server, 'tools/list')
    expect(result.tools[0].inputSchema).toEqual({
      type: 'object',
      properties: { value: { $ref: '#/$defs/any' } },
      $defs: { any: {} },
    })
    expect(await host.callTool(first.server, 'echo', { value: 'grüße ✓' })).toBe('grüße ✓')
    const heard = lines('verbatim').filter(line => line.includes('"initialize"'))
    expect(heard).toHaveLength(1)
    expect(lines('verbatim')[2]).toContain('notifications/initialized')
  })

  it('gives ids and progress tokens back as they were, whatever they are', async () => {
    const { server } = await host.start({ n: 'ids' })
    for (const token of [0, '', '12', -1]) {
      const before = host.told('notifications/progress').length
      const answer = await host.ask(
        server,
        'tools/call',
        { name: 'progress', arguments: { steps: 2 }, _meta: { progressToken: token } },
        { id: `id-${token}` },
      )
      expect(answer.result.content[0].text).toBe('done')
      const told = host.told('notifications/progress').slice(before)
      expect(told.map(({ params }) => params)).toEqual([
        { progressToken: token, progress: 1, total: 2 },
        { progressToken: token, progress: 2, total: 2 },
      ])
    }
  })

  it('keeps two hosts apart, and gives a taken-over server no second initialize', async () => {
    const how = { journal: journal('two') }
    const other = bench.connect('other')
    const { server } = await host.start(how)
    const taken = await other.start(how)
    expect(taken).toMatchObject({ server, fresh: false, result: { serverInfo: { name: 'fake' } } })
    const [a, b] = await Promise.all([
      host.ask(server, 'tools/call', { name: 'echo', arguments: { value: 'mine' } }, { id: 7 }),
      other.ask(server, 'tools/call', { name: 'echo', arguments: { value: 'theirs' } }, { id: 7 }),
    ])
    expect([a.result.content[0].text, b.result.content[0].text]).toEqual(['mine', 'theirs'])
    await host.callTool(server, 'tell', { method: 'notifications/message', params: { level: 'info', data: 'to all' } })
    await until(() => other.told('notifications/message').length > 0, 'the other host hears the news')
    await other.client.close('detach')
    expect(await host.callTool(server, 'count')).toBe('1')
    expect(lines('two').filter(line => line.includes('"initialize"'))).toHaveLength(1)
  })

  it('cancels the requests of a host that leaves', async () => {
    const how = { journal: journal('left') }
    const other = bench.connect('leaver')
    const { server } = await other.start(how)
    await other.send(server, { id: 'x', method: 'tools/call', params: { name: 'hang' } })
    await until(() => lines('left').some(line => line.includes('hang')), 'the call arrives')
    await other.client.close('detach')
    await until(() => lines('left').some(line => line.includes('notifications/cancelled')), 'the call is cancelled')
    const { servers } = await host.client.call('nested.list', {})
    expect(servers.find(each => each.server === server)).toMatchObject({ inFlight: 0, links: 0 })
  })

  it('rewrites the id of a cancellation', async () => {
    const how = { journal: journal('cancel') }
    const { server } = await host.start(how)
    await host.send(server, { id: 'abc', method: 'tools/call', params: { name: 'hang' } })
    await host.send(server, { method: 'notifications/cancelled', params: { requestId: 'abc', reason: 'enough' } })
    await until(() => lines('cancel').some(line => line.includes('enough')), 'the cancellation arrives')
    const said = JSON.parse(lines('cancel').find(line => line.includes('enough')) ?? '')
    expect(said.params).toEqual({ requestId: expect.any(Number), reason: 'enough' })
  })

  it('carries requests of the server to the host whose call it is, and answers ping itself', async () => {
    const { server } = await host.start({ n: 'ask' })
    const call = host.callTool(server, 'ask', { method: 'roots/list' })
    await until(() => host.told('roots/list').length > 0, 'the question arrives')
    const [question] = host.told('roots/list')
    await host.send(server, { id: question?.id, result: { roots: [{ uri: 'file:///x' }] } })
    expect(JSON.parse(await call)).toEqual({ roots: [{ uri: 'file:///x' }] })
    expect(JSON.parse(await host.callTool(server, 'ask', { method: 'ping' }))).toEqual({})
  })

  it('skips a banner, drains stderr, and keeps its end', async () => {
    const { server } = await host.start({ banner: true, stderrBytes: 1_000_000 })
    expect(await host.callTool(server, 'echo', { value: 1 })).toBe('1')
    const { servers } = await host.client.call('nested.list', {})
    const { stderrTail } = servers.find(each => each.server === server) ?? { stderrTail: '' }
    expect(stderrTail.length).toBeLessThan(20_000)
    expect(stderrTail).toContain('eeee')
  })

  it('says why a server did not start, with what it wrote', async () => {
    const { failure } = await host.start({ crashAtStart: true })
    expect(failure).toMatchObject({ exitCode: 7, stderrTail: 'fatal: no configuration' })
    expect(failure?.reason).toMatch(/exit code 7 before it answered initialize/)
    expect((await host.start({ refuse: 'no licence' })).failure?.reason).toMatch(/refused to initialize: no licence/)
    expect((await host.start({ silent: true }, { budgetMs: 300 })).failure?.reason).toMatch(/within 0.3 s/)
    const missing = { type: 'stdio' as const, command: 'no-such-program', args: [], env: {} }
    expect((await host.start({}, { hash: 'm', declaration: missing })).failure?.reason).toMatch(
      /"no-such-program" is not on the PATH/,
    )
    const lost = { ...missing, command: process.execPath, cwd: '/no/such/place' }
    expect((await host.start({}, { hash: 'l', declaration: lost })).failure?.reason).toMatch(/no\/such\/place does not exist/)
    const { servers } = await host.client.call('nested.list', {})
    expect(servers.map(({ hash }) => hash).filter(hash => hash === 'm' || hash === 'l')).toEqual([])
  })

  it('ends a start that nobody waits for any more', async () => {
    const abort = new AbortController()
    const how = { silent: true, journal: journal('abandoned') }
    const started = host.client.call(
      'nested.start',
      {
        ...{ scope: { agent: '', session: '' }, name: 'slow', hash: 'slow', budgetMs: 60_000, initialize: {} },
        declaration: { type: 'stdio', command: process.execPath, args: [FAKE_SERVER, JSON.stringify(how)], env: {} },
      },
      { signal: abort.signal },
    )
    await until(() => {
      try {
        return lines('abandoned').length > 0
      } catch {
        return false
      }
    }, 'the server has started')
    abort.abort()
    await expect(started).rejects.toMatchObject({ code: 'cancelled' })
    const pid = Number(lines('abandoned')[0]?.split(' ')[1])
    await until(() => !isAlive(pid), 'the server is gone')
  })

  it('has the environment, directory and PATH of commands there, and none of our secrets', async () => {
    const declared = { FOO: 'bar', ATELIER_TOKEN: 'secret' }
    const { server } = await host.start(
      { n: 'env' },
      { declaration: { type: 'stdio', command: 'node', args: [FAKE_SERVER, '{}'], env: declared } },
    )
    const { env, cwd } = JSON.parse(await host.callTool(server, 'environment'))
    const run = { session: 's', command: 'pwd; printf %s "$PATH"', headBytes: 9000, tailBytes: 9000 }
    const { output } = await host.client.call('command.run', run)
    expect(output.head).toBe(`${cwd}\n${env.PATH}`)
    expect(env).toMatchObject({ FOO: 'bar', FROM_LINK: 'o', HOME: bench.dir, PWD: cwd })
    expect(env.ATELIER_TOKEN).toBeUndefined()
  })

  it('fills in variables from the environment of commands, and names those that are missing', async () => {
    const declaration = {
      type: 'stdio' as const,
      command: 'node',
      args: [FAKE_SERVER, '{}'],
      env: { A: '${FROM_LINK}-${S}', B: '${NOT_THERE:-default}' },
    }
    const { server } = await host.start({}, { hash: 'v', declaration, variables: { S: 'secret' } })
    const { env } = JSON.parse(await host.callTool(server, 'environment'))
    expect([env.A, env.B]).toEqual(['o-secret', 'default'])
    const bad = { ...declaration, env: { A: '${NOT_THERE}' } }
    await expect(host.start({}, { hash: 'w', declaration: bad, variables: {} })).rejects.toThrow(
      /NOT_THERE \(in its variable A\)/,
    )
  })

  it('fails what is in flight when the server ends, and tells its end', async () => {
    const { server } = await host.start({ n: 'exit' })
    const hanging = host.ask(server, 'tools/call', { name: 'hang' })
    await host.send(server, { id: 'die', method: 'tools/call', params: { name: 'exit', arguments: { code: 3 } } })
    expect((await hanging).error).toEqual({
      code: -32000,
      message: expect.stringMatching(/nested server "fake" did not answer: it ended with exit code 3/),
    })
    await until(() => host.exits.some(exit => exit.server === server), 'the end is told')
    expect(host.exits.find(exit => exit.server === server)).toMatchObject({ exitCode: 3 })
    await expect(host.send(server, { id: 1, method: 'ping' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('carries 10 MB whole, and refuses 50 MB cleanly', async () => {
    const { server } = await host.start({ n: 'big' })
    expect(await host.callTool(server, 'big', { bytes: 10_000_000 })).toHaveLength(10_000_000)
    await expect(host.callTool(server, 'big', { bytes: 50_000_000 })).rejects.toThrow(/more than a link carries/)
    expect(await host.callTool(server, 'echo', { value: 'still here' })).toBe('still here')
  }, 60_000)

  it('drops news that are too long, and answers a question that is, with no harm to the call in flight', async () => {
    const { server } = await host.start({ n: 'large words' })
    const large = { bytes: 40_000_000 }
    expect(await host.callTool(server, 'tell', { method: 'notifications/large', ...large })).toBe('told')
    expect(await host.callTool(server, 'ask', { method: 'sampling/createMessage', ...large })).toMatch(/more than a link carries/)
    expect(host.told('notifications/large')).toEqual([])
    const { servers } = await host.client.call('nested.list', {})
    expect(servers.find(each => each.server === server)?.stderrTail).toMatch(/message of 40000\d+ bytes/)
  }, 60_000)

  it('ends the whole tree, however stubborn', async () => {
    const { server, pid } = await host.start({ stubborn: true, child: true })
    const { env } = JSON.parse(await host.callTool(server, 'environment'))
    await host.client.call('nested.stop', { server })
    await until(() => !isAlive(pid ?? 0), 'the server is gone')
    expect(processesNaming(env.ATELIER_RUN)).toEqual([])
  })

  it('keeps for the next host what was said while none was there', async () => {
    const how = { journal: journal('away') }
    const first = bench.connect('one')
    const { server } = await first.start(how)
    await first.callTool(server, 'count')
    const said = { method: 'notifications/message', params: { level: 'info', data: 'while you were out' } }
    await first.callTool(server, 'later', { afterMs: 300, ...said })
    await first.client.close('detach')
    await new Promise(resolve => setTimeout(resolve, 600))
    const next = bench.connect('two')
    const taken = await next.start(how)
    expect(taken).toMatchObject({ server, fresh: false })
    expect(await next.callTool(server, 'count')).toBe('2')
    expect(next.told(said.method)).toEqual([{ jsonrpc: '2.0', ...said }])
    expect(first.told(said.method)).toEqual([])
    expect(lines('away').filter(line => line.includes('"initialize"'))).toHaveLength(1)
  })
})
