import { isRecord as isObject } from '../lib/is-record.ts'
import type { JsonRpcAnswer, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, RequestId } from './message.ts'

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

/** What a parsed line turned out to be; `invalid` says why, with the id when one could be read. */
export type Shaped =
  | { kind: 'request'; message: JsonRpcRequest }
  | { kind: 'notification'; message: JsonRpcNotification }
  | { kind: 'answer'; message: JsonRpcAnswer }
  | { kind: 'batch'; items: readonly unknown[] }
  | { kind: 'invalid'; id: RequestId | null; code: number; reason: string }

export { isObject }

/** Ids are strings or integers; a fraction or `null` can't be answered safely. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** Tells requests, notifications, answers and rubbish apart; unknown extra fields are let through. */
export function shapeOf(value: unknown): Shaped {
  if (Array.isArray(value)) return { kind: 'batch', items: value }
  if (!isObject(value)) return invalid(null, 'A message must be a JSON object.')
  const id = isRequestId(value.id) ? value.id : null
  if (value.jsonrpc !== '2.0') return invalid(id, 'A message must have "jsonrpc": "2.0".')
  if (value.method === undefined) return answerShape(value, id)
  if (typeof value.method !== 'string') return invalid(id, '"method" must be a string.')
  if (value.params !== undefined && !isObject(value.params)) {
    return { kind: 'invalid', id, code: INVALID_PARAMS, reason: '"params" must be an object.' }
  }
  if (value.id === undefined) return { kind: 'notification', message: value as unknown as JsonRpcNotification }
  if (id === null) return invalid(null, '"id" must be a string or an integer.')
  return { kind: 'request', message: value as unknown as JsonRpcRequest }
}

function answerShape(value: Record<string, unknown>, id: RequestId | null): Shaped {
  if ('result' in value || isObject(value.error)) return { kind: 'answer', message: { ...value, id } as JsonRpcAnswer }
  return invalid(id, 'A message must have "method", "result" or "error".')
}

function invalid(id: RequestId | null, reason: string): Shaped {
  return { kind: 'invalid', id, code: INVALID_REQUEST, reason }
}

/** An error answer. */
export function errorAnswer(id: RequestId | null, code: number, message: string, data?: unknown): JsonRpcAnswer {
  return { jsonrpc: '2.0', id, error: data === undefined ? { code, message } : { code, message, data } }
}

export function isAnswer(message: JsonRpcMessage): message is JsonRpcAnswer {
  return !('method' in message)
}
