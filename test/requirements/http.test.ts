import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect } from 'vitest'
import { isAlive, until } from '../support/processes.ts'
import { type HttpServer, startAtelier } from '../support/server.ts'
import { type Case, verifies } from '../support/verifies.ts'

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

interface Ask {
  method?: string
  path?: string
  headers?: Record<string, string | undefined>
  body?: unknown
}

/** One raw HTTP request; unlike `fetch` it may name any host. Headers given as undefined are left out. */
function ask(server: HttpServer, { method = 'POST', path = '/mcp', headers = {}, body }: Ask) {
  const { hostname, port } = new URL(server.url)
  const all: Record<string, string | undefined> = {
    authorization: `Bearer ${server.token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...headers,
  }
  const given = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
  return new Promise<{ status: number; text: string; session: string | undefined }>((resolve, reject) => {
    const outgoing = request({ hostname, port, path, method, headers: given }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
        if (method === 'GET' && path === '/mcp') response.destroy()
      })
      const session = response.headers['mcp-session-id'] as string | undefined
      const done = () => resolve({ status: response.statusCode ?? 0, text, session })
      response.on('end', done).on('close', done)
      if (method === 'GET' && path === '/mcp') setTimeout(() => response.destroy(), 300)
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  })
}

function serverOf({ client }: Case): HttpServer {
  if (!client.http) throw new Error('This requirement is about HTTP.')
  return client.http
}

verifies('http.session.unknown', async test => {
  const server = serverOf(test)
  const { status } = await ask(server, {
    headers: { 'mcp-session-id': 'nobody' },
    body: { jsonrpc: '2.0', id: 1, method: 'ping' },
  })
  expect(status).toBe(404)
  expect((await ask(server, { body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status).toBe(400)
})

verifies('http.session.deleted', async test => {
  const server = serverOf(test)
  const { session } = await ask(server, { body: INITIALIZE })
  expect(session).toBeDefined()
  const headers = { 'mcp-session-id': session }
  expect((await ask(server, { method: 'DELETE', headers })).status).toBeLessThan(300)
  expect((await ask(server, { headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status).toBe(404)
})

verifies('http.host', async test => {
  const server = serverOf(test)
  expect((await ask(server, { headers: { host: 'evil.com' }, body: INITIALIZE })).status).toBe(403)
  expect((await ask(server, { headers: { origin: 'https://evil.com' }, body: INITIALIZE })).status).toBe(403)
})

verifies('http.token', async test => {
  const server = serverOf(test)
  for (const authorization of [undefined, 'Bearer wrong', 'Basic eDp5', `Bearer ${server.token}x`])
    expect((await ask(server, { headers: { authorization }, body: INITIALIZE })).status).toBe(401)
  expect((await ask(server, { body: INITIALIZE })).status).toBe(200)
})

verifies('http.token.file', async ({ world, client, connect }) => {
  const files = readdirSync(world.root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  const holders = files.filter(path => readFileSync(path, 'utf8').includes(client.http?.token ?? '-'))
  expect(holders).toHaveLength(1)
  expect(statSync(holders[0] ?? '').mode & 0o777).toBe(0o600)
  expect((await connect()).http?.token).toBe(client.http?.token)
})

verifies('http.body-limit', async test => {
  const { status, text } = await ask(serverOf(test), { body: { ...INITIALIZE, padding: 'x'.repeat(70 * 1024 * 1024) } })
  expect(status).toBe(413)
  expect(text).toMatch(/64|limit|large/i)
})

verifies('http.requests.bad', async test => {
  const server = serverOf(test)
  expect(await ask(server, { body: '{ no json' })).toMatchObject({ status: 400, text: expect.stringContaining('-32700') })
  expect((await ask(server, { body: INITIALIZE, headers: { 'content-type': 'text/plain' } })).status).toBe(415)
  expect((await ask(server, { body: INITIALIZE, headers: { accept: 'text/plain' } })).status).toBe(406)
  expect((await ask(server, { method: 'PUT', body: INITIALIZE })).status).toBe(405)
  expect((await ask(server, { path: '/elsewhere', body: INITIALIZE })).status).toBe(404)
})

verifies('http.health', async test => {
  const server = serverOf(test)
  for (const path of ['/healthz', '/readyz'])
    expect((await ask(server, { method: 'GET', path, headers: { authorization: undefined } })).status).toBe(200)
})

verifies('http.stream-drop', async ({ client, dir }) => {
  const server = client.http as HttpServer
  const { session } = await ask(server, { body: INITIALIZE })
  const headers = {
    'mcp-session-id': session,
    authorization: `Bearer ${server.token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  await fetch(server.url, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  })
  const abort = new AbortController()
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 5,
    method: 'tools/call',
    params: { name: 'Bash', arguments: { command: 'touch begun; sleep 2; touch ended' } },
  })
  const call = fetch(server.url, { method: 'POST', headers: headers as Record<string, string>, body, signal: abort.signal })
    .then(response => response.text())
    .catch(() => 'dropped')
  const has = (name: string) => readdirSync(dir).includes(name)
  await until(() => has('begun'), 'the command runs')
  abort.abort()
  expect(await call).toBe('dropped')
  await until(() => has('ended'), 'the command goes on to its end')
})

verifies('http.session-end.kills', async ({ client, dir, alive }) => {
  const server = client.http as HttpServer
  const { session } = await ask(server, { body: INITIALIZE })
  const headers = { 'mcp-session-id': session }
  await ask(server, { headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } })
  void ask(server, {
    headers,
    body: {
      jsonrpc: '2.0',
      id: 5,
      method: 'tools/call',
      params: { name: 'Bash', arguments: { command: 'echo $$ > pid; sleep 600' } },
    },
  }).catch(() => {})
  const pid = () => Number(readdirSync(dir).includes('pid') ? readFileSync(join(dir, 'pid'), 'utf8') : 0)
  await until(() => pid() > 0 && alive(pid()), 'the command runs')
  await ask(server, { method: 'DELETE', headers })
  await until(() => !alive(pid()), 'the command ends with its session', 10_000)
})

verifies('http.clients.apart', async ({ client, connect }) => {
  const others = await Promise.all(Array.from({ length: 5 }, () => connect(client.http ? { server: client.http } : {})))
  const answers = await Promise.all(
    [client, ...others].map((one, i) => one.text('Bash', { command: `export ME=${i}; sleep .2; echo me=$ME` })),
  )
  answers.forEach((text, i) => {
    expect(text).toContain(`me=${i}`)
  })
})

verifies('http.storm', async test => {
  const server = serverOf(test)
  const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1])
  const storm = async () => {
    for (let i = 0; i < 250; i += 10)
      await Promise.all(
        Array.from({ length: 10 }, () => ask(server, { method: 'GET', headers: { 'mcp-session-id': `none-${i}` } })),
      )
  }
  await storm()
  const before = rss()
  await storm()
  await storm()
  expect(rss() - before).toBeLessThan(24_000)
})

verifies('http.bind', async ({ world }) => {
  const server = startAtelier(world, { args: ['http', '--port', '0', '--host', '0.0.0.0', '--auth', 'none'] })
  const { code } = await server.ended
  expect(code).toBe(2)
  expect(server.stderr()).toMatch(/auth|loopback/i)
})

verifies('http.shutdown', async test => {
  const server = serverOf(test)
  const call = test.client.text('Bash', { command: 'sleep 1; echo finished' })
  await test.client.text('Bash', { command: 'true' })
  process.kill(server.pid, 'SIGTERM')
  expect(await call).toContain('finished')
  await until(() => !isAlive(server.pid), 'the server ends', 15_000)
})
