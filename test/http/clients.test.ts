import { randomBytes } from 'node:crypto'
import { connect, createServer as createProxy, type Socket } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { expect, it } from 'vitest'
import type { Authenticator } from '../../src/http/authenticator.ts'
import { call, startTestServer, TOKEN, until } from './harness.ts'

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? ''

it('serves the real client: call, progress, end', async () => {
  const test = await startTestServer()
  const { client, transport } = await test.client()
  expect(textOf(await client.callTool({ name: 'echo', arguments: { x: 1 } }))).toBe('echo {"x":1}')
  await client.callTool({ name: 'progress', arguments: {} })
  await transport.terminateSession()
  await until(() => test.server.sessions.size === 0, 'the session ended')
})

it('never gives one client what belongs to another, though their ids are the same', async () => {
  const test = await startTestServer()
  const clients = await Promise.all(Array.from({ length: 4 }, () => test.client()))
  const calls = clients.flatMap(({ client }, who) =>
    Array.from({ length: 25 }, async (_, n) => {
      const secret = `${who}-${n}-${randomBytes(4).toString('hex')}`
      expect(textOf(await client.callTool({ name: n % 2 ? 'echo' : 'progress', arguments: { secret } }))).toMatch(
        n % 2 ? secret : /^whole$/,
      )
    }),
  )
  await Promise.all(calls)
  expect(test.sessions).toHaveLength(4)
})

it('answers another user as if the session did not exist', async () => {
  const users: Record<string, string> = { 'Bearer a': 'ann', 'Bearer b': 'bob' }
  const authenticator: Authenticator = {
    required: true,
    user: async authorization => users[authorization ?? ''],
    admits: async () => true,
  }
  const test = await startTestServer({}, { authenticator })
  const session = await test.initialize('2025-11-25', { Authorization: 'Bearer a' })
  const as = (user: string, method = 'POST') =>
    test.send(method, {
      ...(method === 'POST' ? { body: call(1, 'echo') } : {}),
      headers: { ...session, Authorization: `Bearer ${user}` },
    })
  expect((await as('b')).status).toBe(404)
  expect((await as('b', 'GET')).status).toBe(404)
  expect((await as('b', 'DELETE')).status).toBe(404)
  expect((await as('a')).status).toBe(200)
  expect(test.last().options.scope).toEqual({ user: 'ann', agent: '', session: '' })
})

it('takes agent and session from headers, and keeps a session to them', async () => {
  const test = await startTestServer({ agent: 'default-agent' })
  await test.initialize()
  expect(test.last().options.scope).toEqual({ user: 'me', agent: 'default-agent', session: '' })
  const session = await test.initialize('2025-11-25', { 'Atelier-Agent': 'coder', 'Atelier-Session': 's1' })
  expect(test.last().options.scope).toEqual({ user: 'me', agent: 'coder', session: 's1' })
  const other = { ...session, 'Atelier-Agent': 'other' }
  expect((await test.send('POST', { body: call(1, 'echo'), headers: other })).status).toBe(400)
  expect((await test.send('POST', { body: call(1, 'echo'), headers: session })).status).toBe(200)
})

it('gives the real client its answer although the connection is cut in the middle', async () => {
  const test = await startTestServer()
  const sockets = new Set<Socket>()
  const port = Number(new URL(test.url).port)
  const proxy = createProxy(client => {
    const server = connect(port, '127.0.0.1')
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    client.pipe(server).pipe(client)
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const { port: proxyPort } = proxy.address() as { port: number }
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${proxyPort}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
    reconnectionOptions: {
      initialReconnectionDelay: 10,
      maxReconnectionDelay: 50,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 50,
    },
  })
  const client = new Client({ name: 'test', version: '1' })
  try {
    await client.connect(transport as Transport)
    const answer = client.callTool({ name: 'hold', arguments: {} })
    await until(() => test.last().held.length === 1, 'the call arrived')
    // Past the window in which the answer would be plain JSON, the stream has its first event.
    await new Promise(resolve => setTimeout(resolve, 300))
    for (const socket of sockets) socket.destroy()
    const [id] = test.last().held
    test.last().answer(id ?? '', 'after the cut')
    expect(textOf(await answer)).toBe('after the cut')
  } finally {
    await client.close()
    proxy.close()
    for (const socket of sockets) socket.destroy()
  }
})

it('ends the sessions of a user who was removed, open streams too', async () => {
  let known = true
  const authenticator: Authenticator = {
    required: true,
    user: async () => (known ? 'ann' : undefined),
    admits: async () => known,
  }
  const test = await startTestServer({ keepAliveMs: 20 }, { authenticator })
  const session = await test.initialize()
  const stream = await test.send('GET', { headers: { ...session, Accept: 'text/event-stream' } })
  known = false
  await stream.text()
  expect(test.last().closed).toBe(true)
})
