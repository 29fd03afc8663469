import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { NestedUrl } from '../../../src/gateway/protocol.ts'
import { createFakeHttpServer } from '../../support/fake-http-server.ts'
import { until } from '../../support/processes.ts'
import { createNestedBench, type Host } from './harness.ts'

describe('nested servers over HTTP', () => {
  let bench: Awaited<ReturnType<typeof createNestedBench>>
  let server: Awaited<ReturnType<typeof createFakeHttpServer>>
  let host: Host

  beforeAll(async () => {
    bench = await createNestedBench()
    host = bench.connect()
  }, 120_000)
  beforeEach(async () => {
    server = await createFakeHttpServer()
  })
  afterEach(async () => {
    const { servers } = await host.client.call('nested.list', {})
    for (const each of servers) await host.client.call('nested.stop', { server: each.server })
    await server.close()
  })
  afterAll(() => bench?.dispose(), 60_000)

  let count = 0
  const dial = (path = '/mcp', more: Partial<NestedUrl> = {}) =>
    host.start(
      {},
      {
        hash: `h${++count}`,
        declaration: { type: 'http', url: `${server.origin}${path}`, headers: { 'X-Key': 'k' }, ...more },
        budgetMs: 10_000,
      },
    )
  const posts = (method: string) => server.requests.filter(({ body }) => body?.method === method)

  it('speaks Streamable HTTP: session, protocol version and its own headers on each request, DELETE at the end', async () => {
    const started = await dial()
    expect(started.result).toMatchObject({ serverInfo: { name: 'http' } })
    expect((await host.ask(started.server, 'tools/call', { name: 'x' })).result.content[0].text).toBe('tools/call {"name":"x"}')
    const [call] = posts('tools/call')
    expect(call?.headers).toMatchObject({
      'mcp-session-id': 'session-1',
      'mcp-protocol-version': '2025-11-25',
      'x-key': 'k',
      accept: 'application/json, text/event-stream',
    })
    expect(posts('initialize')[0]?.headers['mcp-session-id']).toBeUndefined()
    await host.client.call('nested.stop', { server: started.server })
    await until(() => server.requests.some(({ method }) => method === 'DELETE'), 'the session is ended')
  })

  it('takes answers as streams, progress before the answer, and tells what belongs to which request', async () => {
    server.behaviour.answers = 'stream'
    const started = await dial()
    const answer = await host.ask(started.server, 'tools/call', { name: 'x', _meta: { progressToken: 'tok' } }, { id: 'call' })
    expect(answer.result.content[0].text).toContain('tools/call')
    const progress = host.messages.find(({ server: from, message }) => from === started.server && 'method' in message)
    expect(progress).toMatchObject({ related: 'call', message: { params: { progressToken: 'tok', progress: 1 } } })
  })

  it('goes on without a stream of news where the server gives none', async () => {
    const started = await dial()
    await until(() => server.requests.some(({ method }) => method === 'GET'), 'it was asked for')
    expect((await host.ask(started.server, 'tools/list')).result).toBeDefined()
  })

  it('hears news, also after their stream broke', async () => {
    server.behaviour.news = true
    const started = await dial()
    await until(() => server.listeners === 1, 'it listens')
    server.tell({ method: 'notifications/tools/list_changed' })
    await until(() => host.messages.filter(each => each.server === started.server).length === 1, 'the first news come')
    server.cut()
    await until(() => server.listeners === 1, 'it listens again')
    expect(server.requests.filter(({ method }) => method === 'GET').at(-1)?.headers['last-event-id']).toBeDefined()
    server.tell({ method: 'notifications/prompts/list_changed' })
    await until(() => host.messages.filter(each => each.server === started.server).length === 2, 'the second news come')
  })

  it('resumes an answer whose stream broke', async () => {
    server.behaviour.answers = 'cut'
    const started = await dial()
    expect((await host.ask(started.server, 'tools/call', { name: 'y' })).result.content[0].text).toBe('tools/call {"name":"y"}')
  })

  it('makes a session again that the server has forgotten', async () => {
    const started = await dial()
    await until(() => posts('notifications/initialized').length === 1, 'it is initialized')
    server.forget()
    expect((await host.ask(started.server, 'tools/call', { name: 'z' })).result.content[0].text).toBe('tools/call {"name":"z"}')
    expect(posts('initialize')).toHaveLength(2)
    expect(posts('notifications/initialized')).toHaveLength(2)
  })

  it('speaks HTTP+SSE, and finds out itself which of the two it is', async () => {
    for (const declaration of [{ type: 'sse' }, { type: 'http', fallback: true }] as const) {
      const started = await dial('/sse?key=1', declaration)
      expect((await host.ask(started.server, 'tools/call', { name: 'x' })).result.content[0].text).toContain('tools/call')
    }
    const modern = await dial('/mcp', { type: 'sse', fallback: true })
    expect((await host.ask(modern.server, 'tools/list')).result).toBeDefined()
  })

  it('sends nothing to another origin that a server names', async () => {
    for (const endpoint of ['http://127.0.0.1:9/messages', 'http://[bad']) {
      server.behaviour.endpoint = endpoint
      expect((await dial('/sse', { type: 'sse' })).failure?.reason).toContain(`it wants its messages elsewhere, at "${endpoint}"`)
    }
  })

  it('follows a redirect that keeps the method', async () => {
    expect((await dial('/moved')).result).toBeDefined()
  })

  it('says what the server answered, and that nobody listens', async () => {
    server.behaviour.status = 503
    expect((await dial()).failure?.reason).toBe('it answered HTTP 503: out of order')
    expect((await dial('/mcp', { url: 'http://127.0.0.1:9/mcp' })).failure?.reason).toMatch(/can't be reached \(ECONNREFUSED\)/)
    await expect(dial('', { url: 'ftp://x' })).rejects.toThrow(/no http or https URL/)
  })

  it('gives a refused call its reason, and goes on', async () => {
    const started = await dial()
    server.behaviour.status = 500
    expect((await host.ask(started.server, 'tools/call', { name: 'x' })).error?.message).toMatch(/HTTP 500: out of order/)
    delete server.behaviour.status
    expect((await host.ask(started.server, 'tools/call', { name: 'x' })).result).toBeDefined()
  })
})
