import type { NestedMessage } from '../protocol-nested.ts'

/** The messages in a text: one, those of a batch, or none where it is no JSON-RPC. */
export function readMessages(text: string): NestedMessage[] {
  const start = text.trimStart()[0]
  if (start !== '{' && start !== '[') return []
  try {
    const value: unknown = JSON.parse(text)
    return (Array.isArray(value) ? value : [value]).filter(isMessage)
  } catch {
    return []
  }
}

function isMessage(value: unknown): value is NestedMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { method, id } = value as Record<string, unknown>
  return typeof method === 'string' || (id !== undefined && ('result' in value || 'error' in value))
}

/** Where ids stand in the usual forms of an answer: before its result, or at its very end. */
const AT_HEAD = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/
const AT_TAIL = /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/

/** The numeric id of an answer of which only the two ends are known. */
export function answerId(head: string, tail: string): number | undefined {
  const found = AT_HEAD.exec(head)?.[1] ?? AT_TAIL.exec(tail)?.[1]
  return found === undefined || head.includes('"method"') ? undefined : Number(found)
}
