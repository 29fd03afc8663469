import { JSON_RPC_CODE, toWorkspaceError } from '../../lib/errors.ts'
import type { JsonRpcAnswer, JsonRpcRequest } from '../message.ts'
import { errorAnswer } from '../shape.ts'

/** The answer to a request whose server could not be reached: for a tool one that the model can read, else an error. */
export function failedCall({ id, method }: JsonRpcRequest, thrown: unknown): JsonRpcAnswer {
  const error = toWorkspaceError(thrown)
  if (method !== 'tools/call') return errorAnswer(id, JSON_RPC_CODE[error.code], error.text, { code: error.code })
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: error.text }], isError: true } }
}
