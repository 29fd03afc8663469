import type { IncomingMessage } from 'node:http'
import type { JsonRpcMessage, RequestId } from '../mcp/message.ts'
import { isRequestId } from '../mcp/shape.ts'

/** Why a body could not be taken. `gone`: the client went away while sending. */
export type BodyProblem = 'too-large' | 'gone'

/** The whole body, never more than `maxBytes`; reading stops at the bound. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | BodyProblem> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve('too-large')
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (outcome: Buffer | BodyProblem): void => {
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
      resolve(outcome)
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > maxBytes) settle('too-large')
      else chunks.push(chunk)
    }
    const onEnd = (): void => settle(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size))
    const onGone = (): void => settle('gone')
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  })
}

/** Parses JSON in UTF-8; undefined when it is not that. */
export function parseJson(body: Buffer): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown }
  } catch {
    return undefined
  }
}

/** Whether a value has the outline of a JSON-RPC 2.0 message: a call, a notification or an answer. */
export function isMessage(value: unknown): value is JsonRpcMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const message = value as Record<string, unknown>
  if (message.jsonrpc !== '2.0') return false
  if ('method' in message) return typeof message.method === 'string' && (!('id' in message) || isRequestId(message.id))
  return ('result' in message || 'error' in message) && (isRequestId(message.id) || message.id === null)
}

/** The id of a call; undefined for notifications and answers. */
export function callId(message: JsonRpcMessage): RequestId | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined
}
