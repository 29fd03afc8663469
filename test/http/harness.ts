import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterEach } from 'vitest'
import { tokenAuthenticator } from '../../src/http/authenticator.ts'
import { type HttpServer, type HttpServerOptions, type HttpSettings, startHttpServer } from '../../src/http/server.ts'
import { silentLogger } from '../../src/lib/log.ts'
import type { JsonRpcMessage, JsonRpcRequest, RequestId } from '../../src/mcp/message.ts'
import type { ClientSession, SessionOptions } from '../../src/mcp/session.ts'

export const TOKEN = 'atl_test-token'
const SETTINGS: HttpSettings = {
  host: '127.0.0.1',
  port: 0,
  bodyMaxBytes: 64 * 1024,
  sessionIdleMs: 600_000,
  maxSessions: 2_000,
  allowedHosts: [],
  allowedOrigins: [],
  agent: '',
  session: '',
  shutdownMs: 500,
}

/** A session that does what its calls ask for by name; `held` calls wait until the test answers them. */
export class FakeSession implements ClientSession {
  readonly options: SessionOptions
  readonly received: JsonRpcMessage[] = []
  readonly held: RequestId[] = []
  closed = false

  constructor(options: SessionOptions) {
    this.options = options
  }

  get inFlight(): number {
    return this.held.length
  }

  receive(message: JsonRpcMessage): void {
    this.received.push(message)
    if ('method' in message && 'id' in message) this.#call(message)
  }

  async close(): Promise<void> {
    this.closed = true
  }

  async warmUp(): Promise<void> {}

  answer(id: RequestId, text: string): void {
    const at = this.held.indexOf(id)
    if (at >= 0) this.held.splice(at, 1)
    this.options.send({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
  }

  progress(id: RequestId, token: unknown, message: string): void {
    this.options.send(
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 1, message } },
      id,
    )
  }

  notify(method: string): void {
    this.options.send({ jsonrpc: '2.0', method })
  }

  #call({ id, method, params }: JsonRpcRequest): void {
    if (method === 'initialize') {
      const result = {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'fake', version: '1' },
      }
      this.options.send({ jsonrpc: '2.0', id, result })
      return
    }
    const name = params?.name
    if (method === 'ping') this.options.send({ jsonrpc: '2.0', id, result: {} })
    else if (name === 'hold') this.held.push(id)
    else if (name === 'progress') {
      this.progress(id, (params?._meta as { progressToken: unknown } | undefined)?.progressToken, 'half')
      this.answer(id, 'whole')
    } else this.answer(id, `echo ${JSON.stringify(params?.arguments ?? null)}`)
  }
}

export interface TestServer {
  server: HttpServer
  url: string
  sessions: FakeSession[]
  last(): FakeSession
  /** Sends raw HTTP with the token and usual headers; `null` removes a header. */
  send(
    method: string,
    options?: { body?: unknown; headers?: Record<string, string | null>; path?: string; signal?: AbortSignal },
  ): Promise<Response>
  /** Opens a session by hand; gives the headers that name it. */
  initialize(version?: string, headers?: Record<string, string>): Promise<Record<string, string>>
  client(token?: string): Promise<{ client: Client; transport: StreamableHTTPClientTransport }>
}

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

export async function startTestServer(
  settings: Partial<HttpSettings> = {},
  options: Partial<HttpServerOptions> = {},
): Promise<TestServer> {
  const sessions: FakeSession[] = []
  const server = await startHttpServer({
    settings: { ...SETTINGS, ...settings },
    authenticator: tokenAuthenticator('me', TOKEN),
    logger: silentLogger,
    openSession(sessionOptions) {
      const session = new FakeSession(sessionOptions)
      sessions.push(session)
      return session
    },
    ...options,
  })
  open.push(() => server.close())

  const send: TestServer['send'] = (method, { body, headers = {}, path = '/mcp', signal } = {}) => {
    const all: Record<string, string | null> = {
      Authorization: `Bearer ${TOKEN}`,
      Accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    }
    const kept = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)
    return fetch(new URL(path, server.url), {
      method,
      headers: Object.fromEntries(kept),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  }
  return {
    server,
    url: server.url,
    sessions,
    last: () => sessions.at(-1) as FakeSession,
    send,
    async initialize(version = '2025-11-25', headers = {}) {
      const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
      const response = await send('POST', { body: { jsonrpc: '2.0', id: 'init', method: 'initialize', params }, headers })
      await response.json()
      return { 'Mcp-Session-Id': response.headers.get('mcp-session-id') ?? 'none' }
    },
    async client(token = TOKEN) {
      const transport = new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: { Authorization: `Bearer ${token}` } },
        reconnectionOptions: {
          initialReconnectionDelay: 10,
          maxReconnectionDelay: 50,
          reconnectionDelayGrowFactor: 1,
          maxRetries: 50,
        },
      })
      const client = new Client({ name: 'test', version: '1' })
      await client.connect(transport as Transport)
      open.push(() => client.close())
      return { client, transport }
    },
  }
}

/** A call of the fake session's tool. */
export const call = (id: RequestId, name: string, args?: unknown): JsonRpcRequest => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: { progressToken: id } },
})

export interface SseEvent {
  id?: string
  data?: string
  comment?: string
}

/** Reads server-sent events one by one. */
export async function* readEvents(response: Response): AsyncGenerator<SseEvent> {
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk)
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) yield parseEvent(block)
  }
}

function parseEvent(block: string): SseEvent {
  const event: SseEvent = {}
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) event.id = line.slice(4)
    else if (line.startsWith('data: ')) event.data = line.slice(6)
    else if (line.startsWith(': ')) event.comment = line.slice(2)
  }
  return event
}

/** Polls until `check` holds. */
export async function until(check: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (check()) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`This never came true: ${what}`)
}
