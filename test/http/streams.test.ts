import { type IncomingMessage, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { call, readEvents, type SseEvent, startTestServer, type TestServer, TOKEN, until } from './harness.ts'

const STREAM = { Accept: 'text/event-stream' }

async function next(events: AsyncGenerator<SseEvent>): Promise<SseEvent> {
  const { value, done } = await events.next()
  if (done) throw new Error('The stream ended.')
  return value
}

/** The next event that carries a message. */
async function nextMessage(events: AsyncGenerator<SseEvent>): Promise<{ id: string; message: Record<string, unknown> }> {
  for (;;) {
    const { id, data } = await next(events)
    if (id !== undefined && data) return { id, message: JSON.parse(data) }
  }
}

function listen(
  { send }: TestServer,
  session: Record<string, string>,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
) {
  return send('GET', { headers: { ...session, ...STREAM, ...headers }, ...(signal === undefined ? {} : { signal }) })
}

describe('answers', () => {
  it('sends a quick answer as JSON and one with news before it as a stream, in order', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    const quick = await test.send('POST', { body: call(1, 'echo', { a: 1 }), headers: session })
    expect(quick.headers.get('content-type')).toBe('application/json')
    const slow = await test.send('POST', { body: call(2, 'progress'), headers: session })
    expect(slow.headers.get('content-type')).toBe('text/event-stream')
    const events = readEvents(slow)
    expect(await next(events)).toEqual({ id: 'p1-0', data: '' })
    expect((await nextMessage(events)).message).toMatchObject({ method: 'notifications/progress', params: { progressToken: 2 } })
    expect((await nextMessage(events)).message).toMatchObject({ id: 2, result: {} })
    expect((await events.next()).done).toBe(true)
  })

  it('starts no stream with an empty event for clients of older revisions', async () => {
    const test = await startTestServer()
    const session = await test.initialize('2025-06-18')
    const events = readEvents(await test.send('POST', { body: call(1, 'progress'), headers: session }))
    expect((await next(events)).id).toBe('p1-1')
  })

  it('sends headers before the answer of a long call', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    const response = await test.send('POST', { body: call(1, 'hold'), headers: session })
    expect(response.status).toBe(200)
    test.last().answer(1, 'done')
    expect(await response.text()).toContain('"done"')
  })

  it('opens no stream for what has no answer', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    for (let i = 0; i < 3; i++) {
      const response = await test.send('POST', {
        body: { jsonrpc: '2.0', method: 'notifications/initialized' },
        headers: session,
      })
      expect([response.status, await response.text()]).toEqual([202, ''])
    }
    const held = await test.send('POST', { body: call(1, 'hold'), headers: session })
    expect((await next(readEvents(held))).id).toBe('p1-0')
  })

  it('keeps finished streams within a bound, the last one for sure', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    const big = 'x'.repeat(20_000)
    for (let i = 1; i <= 70; i++) {
      const response = await test.send('POST', { body: call(i, 'progress', { big }), headers: session })
      await response.text()
    }
    const resume = async (id: string) => (await listen(test, session, { 'Last-Event-ID': id })).status
    expect([await resume('p1-0'), await resume('p70-0')]).toEqual([400, 200])
  })

  it('ends the stream of a call that the client cancelled', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    const response = await test.send('POST', { body: call(1, 'hold'), headers: session })
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    expect((await test.send('POST', { body: cancel, headers: session })).status).toBe(202)
    expect(await response.text()).not.toContain('result')
    expect(test.last().received.at(-1)).toEqual(cancel)
  })
})

describe('the standalone stream', () => {
  it('is one: a second is refused while the first lives, and may follow it', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    const controller = new AbortController()
    const first = await listen(test, session, {}, controller.signal)
    expect(first.status).toBe(200)
    expect((await listen(test, session)).status).toBe(409)
    controller.abort()
    await until(() => test.last().closed === false, 'the session lives')
    let status = 409
    for (let i = 0; i < 100 && status === 409; i++) status = (await listen(test, session)).status
    expect(status).toBe(200)
  })

  it('delivers what came while nobody listened, once', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    test.last().notify('notifications/early')
    const controller = new AbortController()
    const events = readEvents(await listen(test, session, {}, controller.signal))
    expect((await nextMessage(events)).message.method).toBe('notifications/early')
    test.last().notify('notifications/late')
    expect((await nextMessage(events)).message.method).toBe('notifications/late')
    controller.abort()
    await expect(events.next()).rejects.toThrow()
  })

  it('goes on behind the event that the client saw last, without loss or repetition', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    const controller = new AbortController()
    const events = readEvents(await listen(test, session, {}, controller.signal))
    for (const name of ['a', 'b', 'c']) test.last().notify(`notifications/${name}`)
    const { id } = await nextMessage(events)
    controller.abort()
    test.last().notify('notifications/d')
    const resumed = readEvents(await listen(test, session, { 'Last-Event-ID': id }))
    const seen = []
    for (let i = 0; i < 3; i++) seen.push((await nextMessage(resumed)).message.method)
    expect(seen).toEqual(['notifications/b', 'notifications/c', 'notifications/d'])
  })

  it('is kept alive with comments', async () => {
    const test = await startTestServer({ keepAliveMs: 20 })
    const session = await test.initialize()
    const events = readEvents(await listen(test, session))
    expect(await next(events)).toEqual({ id: 's-0', data: '' })
    expect(await next(events)).toEqual({ comment: 'keep-alive' })
  })
})

describe('a POST stream that broke', () => {
  it('cancels nothing and is resumed over GET, during the call and after it', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    const controller = new AbortController()
    const events = readEvents(await test.send('POST', { body: call(1, 'hold'), headers: session, signal: controller.signal }))
    const primed = await next(events)
    controller.abort()
    test.last().progress(1, 1, 'while away')
    expect(test.last().held).toEqual([1])
    expect(test.last().received.some(message => 'method' in message && message.method.includes('cancel'))).toBe(false)

    const resumed = readEvents(await listen(test, session, { 'Last-Event-ID': primed.id ?? '' }))
    const progress = await nextMessage(resumed)
    expect(progress.message).toMatchObject({ params: { message: 'while away' } })
    test.last().answer(1, 'the answer')
    expect(JSON.stringify((await nextMessage(resumed)).message)).toContain('the answer')
    expect((await resumed.next()).done).toBe(true)

    const again = await (await listen(test, session, { 'Last-Event-ID': progress.id })).text()
    expect(again).toContain('the answer')
    expect(again).not.toContain('while away')
  })

  it('says so when the event is not of this session', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    for (const id of ['nonsense', 'p99-1', 's-', '../s-1']) {
      expect((await listen(test, session, { 'Last-Event-ID': id })).status).toBe(400)
    }
  })
})

describe('the end of a session', () => {
  it('comes with DELETE: calls in flight get an error, streams end, the session is closed', async () => {
    const test = await startTestServer()
    const session = await test.initialize()
    const streaming = await test.send('POST', { body: call(1, 'hold'), headers: session })
    const standalone = await listen(test, session)
    const asJson = test.send('POST', { body: call(2, 'hold'), headers: { ...session, Accept: 'application/json' } })
    await until(() => test.last().held.length === 2, 'both calls arrived')
    expect((await test.send('DELETE', { headers: session })).status).toBe(204)
    expect(test.last().closed).toBe(true)
    expect(await streaming.text()).toContain('ended by its client')
    expect(await (await asJson).json()).toMatchObject({ id: 2, error: { code: -32000 } })
    await standalone.text()
  })

  it('comes when it was idle, never while somebody listens or waits', async () => {
    const test = await startTestServer({ sessionIdleMs: 400, keepAliveMs: 10 })
    const waiting = await test.initialize()
    const pending = await test.send('POST', { body: call(1, 'hold'), headers: waiting })
    const listening = await test.initialize()
    const stream = await listen(test, listening)
    const idle = await test.initialize()
    await until(() => test.last().closed, 'the idle session ended')
    expect((await test.send('POST', { body: call(1, 'echo'), headers: idle })).status).toBe(404)
    expect(test.sessions.map(session => session.closed)).toEqual([false, false, true])
    test.sessions[0]?.answer(1, 'ok')
    expect(await pending.text()).toContain('"ok"')
    await stream.body?.cancel()
    await until(() => test.server.sessions.size === 0, 'all ended')
  })

  it('comes with the server: answers finish within the limit, then the rest is cut', async () => {
    const test = await startTestServer({ shutdownMs: 5_000 })
    const session = await test.initialize()
    const pending = await test.send('POST', { body: call(1, 'hold'), headers: session })
    const closing = test.server.close()
    expect((await test.send('POST', { body: call(2, 'echo'), headers: session }).catch(() => ({ status: 503 }))).status).toBe(503)
    test.last().answer(1, 'just in time')
    expect(await pending.text()).toContain('just in time')
    await closing
    expect(test.last().closed).toBe(true)
    await expect(test.send('GET', { path: '/healthz' })).rejects.toThrow()
  })

  it('does not wait longer than the limit', async () => {
    const test = await startTestServer({ shutdownMs: 50 })
    const session = await test.initialize()
    const pending = await test.send('POST', { body: call(1, 'hold'), headers: session })
    await test.server.close()
    expect(await pending.text()).toContain('shutting down')
    expect(test.last().closed).toBe(true)
  })
})

it('cuts a client that does not read, and takes it back when it returns', async () => {
  const test = await startTestServer({ keepAliveMs: 50 })
  const session = await test.initialize()
  const headers = { ...session, ...STREAM, Authorization: `Bearer ${TOKEN}` }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(test.url, { headers }, resolve).on('error', reject).end()
  })
  response.pause()
  const closed = new Promise(resolve => response.on('error', resolve).on('close', resolve))
  const big = 'x'.repeat(1024 ** 2)
  for (let i = 0; i < 100; i++) test.last().notify(`notifications/${i}/${big}`)
  let received = 0
  response.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  await closed
  expect(received).toBeLessThan(60 * 1024 ** 2)
  const events = readEvents(await listen(test, session))
  test.last().notify('notifications/after')
  let method: unknown
  while (method !== 'notifications/after') method = (await nextMessage(events)).message.method
})
