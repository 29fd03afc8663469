import { ERROR_CODES, type ErrorCode, JSON_RPC_CODE, toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import { isRecord } from '../lib/is-record.ts'
import type { ErrorData } from './protocol.ts'

/** A message of the link, its outline checked: JSON-RPC 2.0 plus the link's own notifications. */
export type LinkMessage =
  | { kind: 'request'; id: number; method: string; params: Record<string, unknown> }
  | { kind: 'result'; id: number; result: unknown }
  | { kind: 'error'; id: number; error: WorkspaceError }
  | { kind: 'notification'; method: string; params: Record<string, unknown> }

/** Reads a message of the peer; throws `protocol` for what has none of the four outlines. */
export function readMessage(message: Record<string, unknown>): LinkMessage {
  const { id, method, params = {} } = message
  if (message.jsonrpc === '2.0' && (id === undefined || Number.isSafeInteger(id)) && isRecord(params)) {
    if (typeof method === 'string') {
      return id === undefined ? { kind: 'notification', method, params } : { kind: 'request', id: id as number, method, params }
    }
    if (id !== undefined && isRecord(message.error)) return { kind: 'error', id: id as number, error: readError(message.error) }
    if (id !== undefined && 'result' in message) return { kind: 'result', id: id as number, result: message.result }
  }
  throw new WorkspaceError('protocol', 'The link carried a message that is no JSON-RPC')
}

/** An error as it travels. */
export function errorMessage(id: number, thrown: unknown): object {
  const error = toWorkspaceError(thrown)
  const data: ErrorData = error.hint === undefined ? { code: error.code } : { code: error.code, hint: error.hint }
  return { jsonrpc: '2.0', id, error: { code: JSON_RPC_CODE[error.code], message: error.message, data } }
}

function readError(error: Record<string, unknown>): WorkspaceError {
  const data = isRecord(error.data) ? error.data : {}
  const code = ERROR_CODES.includes(data.code as ErrorCode) ? (data.code as ErrorCode) : 'internal'
  const message = typeof error.message === 'string' ? error.message : 'The gateway failed without a message'
  return new WorkspaceError(code, message, { hint: typeof data.hint === 'string' ? data.hint : undefined })
}
