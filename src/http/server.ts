import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sleep } from '../lib/deadline.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { ClientSession, SessionOptions } from '../mcp/session.ts'
import type { Authenticator } from './authenticator.ts'
import { createMcpEndpoint, type McpEndpoint } from './mcp-endpoint.ts'
import { createOriginGuard, isLoopback, type OriginGuard } from './origin-guard.ts'
import { refuse, sendJson } from './respond.ts'
import { SessionTable } from './session-table.ts'

/** What an operator may set. Times in ms, sizes in bytes. */
export interface HttpSettings {
  host: string
  port: number
  bodyMaxBytes: number
  sessionIdleMs: number
  maxSessions: number
  allowedHosts: readonly string[]
  allowedOrigins: readonly string[]
  /** Agent and session of clients whose headers name none. */
  agent: string
  session: string
  /** How long a shutdown waits for answers. */
  shutdownMs: number
  keepAliveMs?: number
}

export interface HttpServerOptions {
  settings: HttpSettings
  authenticator: Authenticator
  logger: Logger
  /** Opens the MCP session behind a new HTTP session. */
  openSession(options: SessionOptions): ClientSession
}

export interface HttpServer {
  /** The MCP endpoint's address, with the port that was really taken. */
  readonly url: string
  readonly sessions: { readonly size: number }
  /** Takes no more requests, lets answers finish within the limit, then ends every session and connection. Idempotent. */
  close(): Promise<void>
}

const KEEP_ALIVE_MS = 15_000
const CORS_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, POST, DELETE, OPTIONS',
  'Access-Control-Allow-Headers':
    'Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id, Atelier-Agent, Atelier-Session',
  'Access-Control-Max-Age': '600',
}

/** Serves MCP over Streamable HTTP at `/mcp`. Refuses an address that others can reach when nobody has to authenticate. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { settings, logger } = options
  if (!options.authenticator.required && !isLoopback(settings.host)) {
    throw new WorkspaceError('invalid_argument', `Without authentication the server does not listen on ${settings.host}.`, {
      hint: 'Set auth to "token", or listen on 127.0.0.1.',
    })
  }
  const sessions = new SessionTable({
    ...settings,
    keepAliveMs: settings.keepAliveMs ?? KEEP_ALIVE_MS,
    logger,
    admits: user => options.authenticator.admits(user),
    open: options.openSession,
  })
  const state = { closing: false }
  const handle = createHandler(options, { sessions, state, guard: createOriginGuard(settings) })
  const server = createServer(
    // Bounds how slowly a request may arrive; answers and streams have no limit.
    { headersTimeout: 20_000, requestTimeout: 300_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 5_000 },
    (request, response) => void handle(request, response),
  )
  await listen(server, settings)
  let closed: Promise<void> | undefined
  return {
    url: urlOf(server, settings.host),
    sessions,
    close() {
      state.closing = true
      closed ??= shutDown(server, sessions, settings.shutdownMs)
      return closed
    },
  }
}

interface HandlerParts {
  sessions: SessionTable
  state: { closing: boolean }
  guard: OriginGuard
}

function createHandler(options: HttpServerOptions, { sessions, state, guard }: HandlerParts) {
  const { settings, authenticator, logger } = options
  const defaults = { agent: settings.agent, session: settings.session }
  const mcp = createMcpEndpoint({
    ...{ sessions, bodyMaxBytes: settings.bodyMaxBytes, defaults, logger },
    closing: () => state.closing,
  })
  const probes: Record<string, () => boolean> = { '/healthz': () => true, '/readyz': () => !state.closing }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.on('error', error => logger.debug({ err: error }, 'A connection broke'))
    const path = (request.url ?? '').split('?')[0] ?? ''
    const probe = probes[path]
    if (probe !== undefined) return answerProbe(request, response, probe())
    const problem = guard.problem(request)
    if (problem !== undefined) return refuse(response, { status: 403, code: -32012, message: problem })
    if (answersCors(request, response, guard)) return
    try {
      await serve(request, response, { path, mcp })
    } catch (error) {
      logger.error({ err: error }, 'A request failed')
      refuse(response, { status: 500, code: -32603, message: 'The request failed: see the log of Atelier.' })
    }
  }

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    route: { path: string; mcp: McpEndpoint },
  ): Promise<void> {
    const user = await authenticator.user(request.headers.authorization)
    if (user === undefined) {
      const headers = { 'WWW-Authenticate': 'Bearer realm="atelier"' }
      return refuse(response, {
        status: 401,
        code: -32013,
        message: 'Send a valid token: "Authorization: Bearer <token>".',
        headers,
      })
    }
    if (route.path !== '/mcp')
      return refuse(response, { status: 404, code: -32002, message: 'Nothing is served here; MCP is at /mcp.' })
    await route.mcp({ request, response, user })
  }
}

function answerProbe(request: IncomingMessage, response: ServerResponse, good: boolean): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuse(response, { status: 405, code: -32600, message: 'Only GET is served here.', headers: { Allow: 'GET, HEAD' } })
  } else sendJson(response, good ? 200 : 503, { status: good ? 'ok' : 'closing' })
}

/** Adds CORS headers for an allowed origin; true when the request was a preflight and is answered. */
function answersCors(request: IncomingMessage, response: ServerResponse, guard: OriginGuard): boolean {
  const origin = guard.corsOrigin(request)
  if (origin === undefined) return false
  response.setHeader('Access-Control-Allow-Origin', origin)
  response.setHeader('Vary', 'Origin')
  response.setHeader('Access-Control-Expose-Headers', 'Mcp-Session-Id, WWW-Authenticate')
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false
  response.writeHead(204, CORS_HEADERS).end()
  return true
}

function listen(server: Server, { host, port }: HttpSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = { EADDRINUSE: 'the port is taken', EACCES: 'the port needs more rights' }
      const why = reasons[error.code ?? ''] ?? error.message
      const hint = 'Choose another with --port (0 takes any free one) or --host.'
      reject(new WorkspaceError('unavailable', `Can't listen on ${host}:${port}: ${why}.`, { hint, cause: error }))
    })
    server.listen({ port, host: host.replace(/^\[|\]$/g, '') }, () => resolve())
  })
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const name = host.replace(/^\[|\]$/g, '')
  const reachable = name === '0.0.0.0' ? '127.0.0.1' : name === '::' ? '[::1]' : name.includes(':') ? `[${name}]` : name
  return `http://${reachable}:${port}/mcp`
}

async function shutDown(server: Server, sessions: SessionTable, limitMs: number): Promise<void> {
  const stopped = new Promise<void>(resolve => server.close(() => resolve()))
  const until = performance.now() + limitMs
  while (sessions.inFlight > 0 && performance.now() < until) await sleep(25)
  await sessions.close('The server is shutting down.')
  server.closeIdleConnections()
  // Answers that were written last get a moment to leave.
  await Promise.race([stopped, sleep(250)])
  server.closeAllConnections()
  await stopped
}
