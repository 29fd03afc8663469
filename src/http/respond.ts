import type { IncomingMessage, ServerResponse } from 'node:http'
import { HTTP_STATUS, JSON_RPC_CODE, type WorkspaceError } from '../lib/errors.ts'
import type { RequestId } from '../mcp/message.ts'

/** How long a refused body is read and dropped, so that the answer reaches a client that still sends. */
const LINGER_MS = 2_000

/** A request refused before any session saw it. */
export interface Refusal {
  status: number
  code: number
  message: string
  id?: RequestId
  headers?: Record<string, string>
}

/** Answers with a JSON body, or with none. Does nothing when the client is gone. */
export function sendJson(response: ServerResponse, status: number, body?: unknown): void {
  if (response.destroyed || response.headersSent) return
  if (body === undefined) {
    response.writeHead(status, status === 202 ? { 'Content-Length': '0' } : {}).end()
    return
  }
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }).end(text)
}

/** Answers with a JSON-RPC error. */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  if (response.destroyed || response.headersSent) return
  for (const [name, value] of Object.entries(refusal.headers ?? {})) response.setHeader(name, value)
  sendJson(response, refusal.status, {
    jsonrpc: '2.0',
    error: { code: refusal.code, message: refusal.message },
    id: refusal.id ?? null,
  })
}

/** Answers with an error and closes the connection, after a short time for the client to notice while it still sends. */
export function refuseAndClose(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  if (response.destroyed || response.headersSent) return
  const text = JSON.stringify({ jsonrpc: '2.0', error: { code: refusal.code, message: refusal.message }, id: null })
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)), Connection: 'close' }
  response.writeHead(refusal.status, headers)
  response.write(text)
  const close = (): void => {
    clearTimeout(timer)
    response.end(() => request.socket.destroy())
  }
  const timer = setTimeout(close, LINGER_MS)
  request.once('end', close).once('close', close).resume()
}

/** A typed error as a refusal. */
export function refusalOf(error: WorkspaceError): Refusal {
  return { status: HTTP_STATUS[error.code], code: JSON_RPC_CODE[error.code], message: error.text }
}
