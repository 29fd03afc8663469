import type { JsonRpcMessage } from './message.ts'

/** Gives the router a message of an upstream; `related` is the upstream's request that it belongs to. */
export type Emit = (message: JsonRpcMessage, related?: number) => void

export type Claim = boolean | object | undefined

/**
 * One server below the router: our own, or a nested one. The request ids and progress tokens that it sees are the
 * router's numbers, unique in a session; the ones that it makes up itself are mapped on the way out.
 */
export interface Upstream {
  readonly name: string
  /**
   * Whether a request is this upstream's to answer: `true`, or an object that comes back with the request. Our own server owns what
   * nobody else does.
   */
  owns(method: string, params: Record<string, unknown>): Claim | Promise<Claim>
  /** Whether it has a part in a list method (`tools/list`, …). */
  lists(method: string): boolean
  /** `claim`: what `owns` gave for this request. */
  receive(message: JsonRpcMessage, claim?: Claim): void
  /** Called once, before the first `receive`. */
  connect(emit: Emit): void
  /** Ends what is in flight. Idempotent. */
  close(): Promise<void>
}

/** List methods whose answers are merged over all upstreams, and the key of their items. */
export const LIST_KEYS: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
  'tasks/list': 'tasks',
}

/** Items of one page of a merged list. */
export const PAGE_SIZE = 500

/** One page of a merged list, from where `cursor` says; undefined: it is no cursor of ours. */
export function pageOf(key: string, items: readonly unknown[], { cursor, size = PAGE_SIZE }: { cursor: unknown; size?: number }) {
  const from = cursor === undefined ? 0 : typeof cursor === 'string' && /^\d{1,9}$/.test(cursor) ? Number(cursor) : undefined
  if (from === undefined) return undefined
  const to = from + size
  return { [key]: items.slice(from, to), ...(to < items.length && { nextCursor: String(to) }) }
}

/** One list out of several, in the order given. What failed or is no list is left out: it hides nothing else. */
export function mergeLists(key: string, results: readonly unknown[]): unknown[] {
  return results.flatMap(result => {
    const part = typeof result === 'object' && result !== null ? (result as Record<string, unknown>)[key] : undefined
    return Array.isArray(part) ? part : []
  })
}

type Params = Record<string, unknown>

/** The `_meta.progressToken` of a request's parameters, if it has one. */
export function progressTokenOf(params: Params | undefined): unknown {
  const meta = params?._meta
  return typeof meta === 'object' && meta !== null ? (meta as Params).progressToken : undefined
}

/** The parameters with another progress token; everything else stays the same object. */
export function withProgressToken(params: Params | undefined, token: number): Params {
  return { ...params, _meta: { ...(params?._meta as Params), progressToken: token } }
}
