import type { NestedId, NestedMessage } from '../protocol-nested.ts'

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

/** What the two ends of a message tell of it that was too long to be kept. */
export interface Overlong {
  kind: 'answer' | 'request' | 'notification'
  /** Absent where neither end shows it. */
  id?: NestedId
}

const VERSION = String.raw`(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?`
const ID = String.raw`"id"\s*:\s*(\d+|"[^"\\]*")`
const METHOD = String.raw`"method"\s*:\s*"[^"]*"\s*,\s*${VERSION}`
/** Where ids stand in the usual forms of a message: before what is long, or at its very end. */
const ID_AT_HEAD = new RegExp(String.raw`^\s*\{\s*${VERSION}(?:${METHOD})?${ID}\s*,`)
const ID_AT_TAIL = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
const NO_ANSWER = new RegExp(String.raw`^\s*\{\s*${VERSION}(?:${ID}\s*,\s*)?${VERSION}"(?:method|params)"\s*:`)

/** What a message is of which only the two ends are known. */
export function readEnds(head: string, tail: string): Overlong {
  const found = ID_AT_HEAD.exec(head)?.[1] ?? ID_AT_TAIL.exec(tail)?.[1]
  const id = found === undefined ? {} : { id: found.startsWith('"') ? found.slice(1, -1) : Number(found) }
  if (!NO_ANSWER.test(head)) return { kind: 'answer', ...id }
  return { kind: found === undefined ? 'notification' : 'request', ...id }
}
