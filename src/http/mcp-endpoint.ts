import type { IncomingMessage, ServerResponse } from 'node:http'
import { JSON_RPC_CODE, toWorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { JsonRpcMessage } from '../mcp/message.ts'
import { PROTOCOL_VERSIONS } from '../mcp/static.ts'
import { callId, isMessage, parseJson, readBody } from './body.ts'
import { parseEventId } from './event-channel.ts'
import type { HttpSession } from './http-session.ts'
import { accepted, acceptsStream, allowsBatches, isJsonBody } from './negotiate.ts'
import { type Refusal, refusalOf, refuse, refuseAndClose, sendJson } from './respond.ts'
import { scopeFromHeaders } from './scope-headers.ts'
import type { SessionTable } from './session-table.ts'

const MAX_BATCH = 100
const INVALID_REQUEST = JSON_RPC_CODE.protocol
const PARSE_ERROR = -32700
const NO_SESSION = -32001

export interface EndpointOptions {
  sessions: SessionTable
  bodyMaxBytes: number
  /** Agent and session where the headers name none. */
  defaults: { agent: string; session: string }
  /** Whether the server shuts down: no more calls then, only what helps those in flight to finish. */
  closing(): boolean
  logger: Logger
}

/** One request of an authenticated user. */
export interface HttpCall {
  request: IncomingMessage
  response: ServerResponse
  user: string
}

/** Answers one request on `/mcp`. */
export type McpEndpoint = (call: HttpCall) => Promise<void>

/** A request that cannot go on; thrown and rendered in this file only. */
class Refused extends Error {
  readonly refusal: Refusal
  constructor(status: number, code: number, message: string, extra: Partial<Refusal> = {}) {
    super(message)
    this.refusal = { status, code, message, ...extra }
  }
}

/** Streamable HTTP at the level of messages: POST carries them in, GET opens a stream, DELETE ends the session. */
export function createMcpEndpoint(options: EndpointOptions): McpEndpoint {
  const handlers: Record<string, McpEndpoint> = {
    POST: call => post(options, call),
    GET: async call => listen(options, call),
    DELETE: call => end(options, call),
  }
  return async call => {
    const { request, response } = call
    try {
      const handler = handlers[request.method ?? '']
      if (handler === undefined) {
        throw new Refused(405, INVALID_REQUEST, `${request.method} is not served here.`, {
          headers: { Allow: 'GET, POST, DELETE' },
        })
      }
      await handler(call)
    } catch (error) {
      const refusal = error instanceof Refused ? error.refusal : refusalOf(toWorkspaceError(error))
      if (refusal.status >= 500) options.logger.error({ err: error }, 'A request failed')
      if (refusal.status === 413) refuseAndClose(request, response, refusal)
      else refuse(response, refusal)
    }
  }
}

async function post(options: EndpointOptions, call: HttpCall): Promise<void> {
  const { request, response } = call
  const takes = accepted(request.headers.accept)
  if (!takes.json && !takes.stream) {
    throw new Refused(406, INVALID_REQUEST, 'Accept must name application/json and text/event-stream.')
  }
  if (!isJsonBody(request.headers['content-type'], request.headers['content-encoding'])) {
    throw new Refused(415, INVALID_REQUEST, 'Content-Type must be application/json, in UTF-8 and uncompressed.')
  }
  checkVersion(request)
  const { messages, batch } = await readMessages(request, options.bodyMaxBytes)
  const ids = messages.map(callId).filter(id => id !== undefined)
  if (options.closing() && ids.length > 0) {
    const headers = { Connection: 'close' }
    throw new Refused(503, JSON_RPC_CODE.unavailable, 'The server is shutting down.', { headers })
  }
  const session = sessionForPost(options, call, messages)
  if (batch && !allowsBatches(session.protocolVersion)) {
    throw new Refused(
      400,
      INVALID_REQUEST,
      `Protocol version ${session.protocolVersion} has no batches: send one message a request.`,
    )
  }
  const duplicate = session.duplicate(ids)
  if (duplicate !== undefined) {
    throw new Refused(400, INVALID_REQUEST, `A request with the id ${JSON.stringify(duplicate)} is in flight already.`)
  }
  session.post(messages, response, { accepted: takes, batch })
  if (ids.length === 0) sendJson(response, 202)
}

async function readMessages(request: IncomingMessage, maxBytes: number): Promise<{ messages: JsonRpcMessage[]; batch: boolean }> {
  const body = await readBody(request, maxBytes)
  if (body === 'too-large')
    throw new Refused(413, JSON_RPC_CODE.too_large, `The body is larger than the limit of ${maxBytes} bytes (bodyMaxBytes).`)
  if (body === 'gone') throw new Refused(400, INVALID_REQUEST, 'The body ended early.')
  const parsed = parseJson(body)
  if (parsed === undefined) throw new Refused(400, PARSE_ERROR, 'Parse error: the body is no JSON in UTF-8.')
  const batch = Array.isArray(parsed.value)
  const values: unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  if (batch && (values.length === 0 || values.length > MAX_BATCH)) {
    throw new Refused(400, INVALID_REQUEST, `A batch holds 1 to ${MAX_BATCH} messages; this one holds ${values.length}.`)
  }
  const messages = values.filter(isMessage)
  if (messages.length < values.length)
    throw new Refused(400, INVALID_REQUEST, 'The body is no JSON-RPC 2.0 message; ids are strings or whole numbers.')
  return { messages, batch }
}

function sessionForPost(options: EndpointOptions, call: HttpCall, messages: readonly JsonRpcMessage[]): HttpSession {
  const { request, response, user } = call
  const initialize = messages.find(message => 'method' in message && message.method === 'initialize')
  if (initialize === undefined) return sessionOf(options, call)
  if (messages.length > 1) throw new Refused(400, INVALID_REQUEST, 'initialize must be sent alone.')
  if (callId(initialize) === undefined) throw new Refused(400, INVALID_REQUEST, 'initialize must be a request with an id.')
  const session = options.sessions.create(scopeFromHeaders(request.headers, { user, ...options.defaults }))
  if (session === undefined) {
    throw new Refused(
      503,
      JSON_RPC_CODE.limit_exceeded,
      'The server holds as many sessions as it may (maxSessions). Try again later.',
      {
        headers: { 'Retry-After': '30' },
      },
    )
  }
  response.setHeader('Mcp-Session-Id', session.id)
  return session
}

function listen(options: EndpointOptions, call: HttpCall): void {
  const { request, response } = call
  checkVersion(request)
  const session = sessionOf(options, call)
  if (!acceptsStream(request.headers.accept)) throw new Refused(406, INVALID_REQUEST, 'Accept must name text/event-stream.')
  const last = request.headers['last-event-id']
  const resume = typeof last === 'string' && last !== '' ? parseEventId(last) : undefined
  if (last !== undefined && last !== '' && resume === undefined)
    throw new Refused(400, INVALID_REQUEST, 'Last-Event-ID is none of this server.')
  const outcome = session.listen(response, resume)
  if (outcome === 'taken') throw new Refused(409, INVALID_REQUEST, 'This session has an open stream already.')
  if (outcome === 'unknown') throw new Refused(400, INVALID_REQUEST, 'The stream of this Last-Event-ID is no longer kept.')
}

async function end(options: EndpointOptions, call: HttpCall): Promise<void> {
  checkVersion(call.request)
  await options.sessions.end(sessionOf(options, call), 'The session was ended by its client.')
  call.response.writeHead(204).end()
}

function checkVersion(request: IncomingMessage): void {
  const version = request.headers['mcp-protocol-version']
  if (version === undefined || PROTOCOL_VERSIONS.some(known => known === version)) return
  throw new Refused(
    400,
    INVALID_REQUEST,
    `MCP-Protocol-Version "${version}" is not supported; supported: ${PROTOCOL_VERSIONS.join(', ')}.`,
  )
}

function sessionOf(options: EndpointOptions, { request, user }: HttpCall): HttpSession {
  const id = request.headers['mcp-session-id']
  if (typeof id !== 'string' || id === '')
    throw new Refused(400, INVALID_REQUEST, 'Mcp-Session-Id is missing: send initialize first.')
  const session = options.sessions.get(id, user)
  if (session === undefined)
    throw new Refused(404, NO_SESSION, 'Session not found: it ended or never was. Send initialize again.')
  const asked = scopeFromHeaders(request.headers, session.scope)
  if (asked.agent !== session.scope.agent || asked.session !== session.scope.session) {
    throw new Refused(400, INVALID_REQUEST, 'Atelier-Agent or Atelier-Session differ from those that this session began with.')
  }
  return session
}
