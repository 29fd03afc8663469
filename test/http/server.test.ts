import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { openAuthenticator } from '../../src/http/authenticator.ts'
import { call, startTestServer, TOKEN } from './harness.ts'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

/** `fetch` does not let the caller choose `Host`. */
function statusFor(url: string, headers: Record<string, string>, method = 'POST'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { Authorization: `Bearer ${TOKEN}`, ...headers } }, response => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject).end()
  })
}

describe('who may ask', () => {
  it('answers 401 without a token or with a wrong one, and names the scheme', async () => {
    const { send } = await startTestServer()
    for (const authorization of [null, 'Bearer nonsense', 'Basic abc', `Bearer ${TOKEN}x`, 'Bearer ']) {
      const response = await send('POST', { body: PING, headers: { Authorization: authorization } })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  it('leaves the two probes open and asks for the token everywhere else', async () => {
    const { send } = await startTestServer()
    const none = { Authorization: null }
    expect((await send('GET', { path: '/healthz', headers: none })).status).toBe(200)
    expect((await send('GET', { path: '/readyz', headers: none })).status).toBe(200)
    expect((await send('DELETE', { path: '/healthz', headers: none })).status).toBe(405)
    expect((await send('GET', { path: '/', headers: none })).status).toBe(401)
    expect((await send('GET', { path: '/elsewhere' })).status).toBe(404)
  })

  it('refuses foreign hosts and origins, and takes its own names with any port', async () => {
    const { url } = await startTestServer({ allowedHosts: ['atelier.example'], allowedOrigins: ['https://app.example'] })
    const refused = [
      { Host: 'evil.com' },
      { Host: 'localhost.evil.com' },
      { Host: '127.0.0.1:80@evil.com' },
      { Origin: 'https://evil.com' },
      { Origin: 'null' },
    ]
    for (const headers of refused) expect([headers, await statusFor(url, headers)]).toEqual([headers, 403])
    const taken = [
      { Host: 'localhost:1' },
      { Host: '[::1]:7420' },
      { Host: 'ATELIER.example:443' },
      { Origin: 'https://app.example' },
      { Origin: 'http://localhost:6274' },
    ]
    for (const headers of taken) expect([headers, await statusFor(url, headers)]).toEqual([headers, 415])
  })

  it('answers CORS preflights for allowed origins only', async () => {
    const { send } = await startTestServer()
    const preflight = (origin: string) =>
      send('OPTIONS', { headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', Authorization: null } })
    const good = await preflight('http://localhost:6274')
    expect(good.status).toBe(204)
    expect(good.headers.get('access-control-allow-origin')).toBe('http://localhost:6274')
    const bad = await preflight('https://evil.com')
    expect(bad.status).toBe(403)
    expect(bad.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('does not listen for others without authentication', async () => {
    const authenticator = openAuthenticator('me')
    await expect(startTestServer({ host: '0.0.0.0' }, { authenticator })).rejects.toMatchObject({ code: 'invalid_argument' })
    const { send, initialize } = await startTestServer({}, { authenticator })
    const session = await initialize()
    expect((await send('POST', { body: PING, headers: { ...session, Authorization: null } })).status).toBe(200)
  })
})

describe('what is refused', () => {
  it('tells apart a missing, an unknown and an ended session', async () => {
    const { send, initialize } = await startTestServer()
    expect((await send('POST', { body: PING })).status).toBe(400)
    expect((await send('GET')).status).toBe(400)
    expect((await send('POST', { body: PING, headers: { 'Mcp-Session-Id': 'unknown' } })).status).toBe(404)
    const session = await initialize()
    expect((await send('DELETE', { headers: session })).status).toBe(204)
    expect((await send('POST', { body: PING, headers: session })).status).toBe(404)
  })

  it('answers each broken request with its own status', async () => {
    const { send, initialize } = await startTestServer()
    const session = await initialize()
    const post = async (body: unknown, headers: Record<string, string | null> = {}) => {
      const response = await send('POST', { body, headers: { ...session, ...headers } })
      return [response.status, ((await response.json()) as { error?: { code: number } }).error?.code]
    }
    expect(await post('{"jsonrpc":')).toEqual([400, -32700])
    expect(await post('[1]')).toEqual([400, -32600])
    expect(await post({ id: 1, method: 'ping' })).toEqual([400, -32600])
    expect(await post({ jsonrpc: '2.0', id: null, method: 'ping' })).toEqual([400, -32600])
    // No answer could name these: the request would wait for ever.
    for (const id of ['1.5', '9007199254740993', '1e999']) {
      expect(await post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toEqual([400, -32600])
    }
    expect(await post([PING])).toEqual([400, -32600])
    expect(await post('x', { 'Content-Type': 'text/plain' })).toEqual([415, -32600])
    expect(await post(PING, { 'Content-Encoding': 'gzip' })).toEqual([415, -32600])
    expect(await post(PING, { Accept: 'text/html' })).toEqual([406, -32600])
    expect(await post(PING, { 'MCP-Protocol-Version': '1999-01-01' })).toEqual([400, -32600])
    expect(await post(PING, { 'Atelier-Agent': '../../etc' })).toEqual([400, -32602])
    const other = await send('PUT', { body: PING, headers: session })
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE'])
  })

  it('takes */* and answers it with JSON', async () => {
    const { send, initialize } = await startTestServer()
    const session = await initialize()
    const response = await send('POST', { body: call(1, 'progress'), headers: { ...session, Accept: '*/*' } })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ id: 1, result: { content: [{ text: 'whole' }] } })
  })

  it('takes a batch from clients of the revisions that had them', async () => {
    const { send, initialize } = await startTestServer()
    const session = await initialize('2025-03-26')
    const batch = [PING, { jsonrpc: '2.0', method: 'notifications/initialized' }, { ...PING, id: 2 }]
    const response = await send('POST', { body: batch, headers: { ...session, Accept: 'application/json' } })
    expect(await response.json()).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, result: {} },
    ])
  })

  it('refuses a body over the limit with JSON, announced or not, and closes the connection', async () => {
    const { send, url, initialize } = await startTestServer({ bodyMaxBytes: 1_000 })
    const session = await initialize()
    const announced = await send('POST', { body: JSON.stringify('x'.repeat(50_000)), headers: session })
    expect(announced.status).toBe(413)
    expect(announced.headers.get('connection')).toBe('close')
    expect(await announced.json()).toMatchObject({ error: { message: expect.stringContaining('1000 bytes') } })

    const { port } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${TOKEN}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const chunk = `400\r\n${' '.repeat(1_024)}\r\n`
    for (let i = 0; i < 4; i++) socket.write(chunk)
    let answer = ''
    for await (const data of socket) answer += data
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('refuses an id that is in flight and takes it again afterwards', async () => {
    const { send, initialize, last } = await startTestServer()
    const session = await initialize()
    const first = send('POST', { body: call(7, 'hold'), headers: session })
    const held = await first
    expect((await send('POST', { body: call(7, 'echo'), headers: session })).status).toBe(400)
    expect((await send('POST', { body: call('7', 'echo'), headers: session })).status).toBe(200)
    last().answer(7, 'late')
    expect(await held.text()).toContain('late')
    expect((await send('POST', { body: call(7, 'echo'), headers: session })).status).toBe(200)
  })

  it('keeps a bound on sessions', async () => {
    const { send, initialize } = await startTestServer({ maxSessions: 2 })
    await initialize()
    await initialize()
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    const third = await send('POST', { body: { jsonrpc: '2.0', id: 1, method: 'initialize', params } })
    expect(third.status).toBe(503)
    expect(third.headers.get('retry-after')).not.toBeNull()
  })
})

it('says so when the port is taken', async () => {
  const { url } = await startTestServer()
  await expect(startTestServer({ port: Number(new URL(url).port) })).rejects.toMatchObject({
    code: 'unavailable',
    message: /the port is taken/,
  })
})

it('stays flat under a storm of requests without a session', async () => {
  const { send, server } = await startTestServer()
  const statuses = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const response = await send('GET', { headers: { Accept: 'text/event-stream' } })
      await response.arrayBuffer()
      return response.status
    }),
  )
  expect(new Set(statuses)).toEqual(new Set([400]))
  expect(server.sessions.size).toBe(0)
})
