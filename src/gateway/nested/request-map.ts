import type { NestedAnswer, NestedId, NestedMessage, NestedNotification, NestedRequest } from '../protocol-nested.ts'

/** Answers may still come to so many cancelled requests, and progress to so many tasks, before the oldest is forgotten. */
const REMEMBERED = 500

/** Requests that hosts send of their own accord. */
const IN_BACKGROUND = /\/list$|^logging\/setLevel$/

/** A request on its way to a server, for whom it was sent. */
export interface SentRequest<Party> {
  readonly id: number
  readonly party: Party
  readonly original: NestedId
  /** Progress token of the party; `undefined` where it wants no progress. */
  readonly token: unknown
  readonly method: string
  readonly params: Record<string, unknown> | undefined
  /** As the server sees it. */
  readonly mapped: NestedRequest
  /** When it was sent, in ms of this process. */
  readonly at: number
}

/**
 * The requests that several parties have open at one server. Their ids and progress tokens are replaced by numbers on the way
 * to the server and put back on the way from it; nothing else of a message changes.
 */
export class RequestMap<Party> {
  readonly #open = new Map<number, SentRequest<Party>>()
  /** Cancelled ones that may be answered all the same, and tasks that tell progress after their answer. */
  readonly #late = new Map<number, SentRequest<Party>>()
  #lastId = 0

  /** Requests that wait for an answer. */
  get size(): number {
    return this.#open.size
  }

  get all(): SentRequest<Party>[] {
    return [...this.#open.values()]
  }

  /** The request that was sent last of those that wait. */
  get latest(): SentRequest<Party> | undefined {
    let last: SentRequest<Party> | undefined
    for (const sent of this.#open.values()) last = sent
    return last
  }

  /** The last of those that wait which may make a server ask something; lists are read in the background, too. */
  get latestCall(): SentRequest<Party> | undefined {
    return this.all.findLast(({ method }) => !IN_BACKGROUND.test(method)) ?? this.latest
  }

  get(id: number): SentRequest<Party> | undefined {
    return this.#open.get(id)
  }

  /** Takes a party's request in. */
  open(party: Party, message: NestedRequest): SentRequest<Party> {
    const id = ++this.#lastId
    const token = progressToken(message.params)
    const { id: original, method, params } = message
    const mapped = token === undefined ? { ...message, id } : { ...message, id, params: withToken(params, id) }
    const sent = { id, party, original, token, method, params, mapped, at: performance.now() }
    this.#open.set(id, sent)
    return sent
  }

  /** A party's `notifications/cancelled` as the server sees it; `undefined` when the request is not open. */
  cancel(party: Party, message: NestedNotification): { sent: SentRequest<Party>; message: NestedNotification } | undefined {
    const sent = this.find(party, message.params?.requestId)
    if (sent === undefined) return undefined
    this.close(sent.id)
    return { sent, message: { ...message, params: { ...message.params, requestId: sent.id } } }
  }

  find(party: Party, original: unknown): SentRequest<Party> | undefined {
    for (const sent of this.#open.values()) if (sent.party === party && sent.original === original) return sent
    return undefined
  }

  /** The server's answer as its party sees it; `undefined` for a second one, or one that nobody asked for. */
  answer(message: NestedAnswer): { sent: SentRequest<Party>; message: NestedAnswer } | undefined {
    const id = message.id as number
    const sent = this.#open.get(id) ?? this.#late.get(id)
    if (sent === undefined) return undefined
    this.#open.delete(id)
    this.#late.delete(id)
    if (sent.token !== undefined && sent.params?.task !== undefined) this.#remember(sent)
    return { sent, message: { ...message, id: sent.original } }
  }

  /** The server's progress as its party sees it; `undefined` for an unknown token. */
  progress(message: NestedNotification): { sent: SentRequest<Party>; message: NestedNotification } | undefined {
    const id = message.params?.progressToken as number
    const sent = this.#open.get(id) ?? this.#late.get(id)
    if (sent === undefined || sent.token === undefined) return undefined
    return { sent, message: { ...message, params: { ...message.params, progressToken: sent.token } } }
  }

  /** A request counts no more; an answer that comes all the same is still given to its party. */
  close(id: number): void {
    const sent = this.#open.get(id)
    this.#open.delete(id)
    if (sent !== undefined) this.#remember(sent)
  }

  /** A request is forgotten: nobody hears of an answer. */
  drop(id: number): void {
    this.#open.delete(id)
  }

  /** Takes out all of a party, or of everybody: no answer finds its way any more. */
  take(party?: Party): SentRequest<Party>[] {
    const taken = this.all.filter(sent => party === undefined || sent.party === party)
    for (const { id } of taken) this.#open.delete(id)
    for (const [id, sent] of this.#late) if (party === undefined || sent.party === party) this.#late.delete(id)
    return taken
  }

  #remember(sent: SentRequest<Party>): void {
    this.#late.set(sent.id, sent)
    if (this.#late.size <= REMEMBERED) return
    const oldest = this.#late.keys().next().value
    if (oldest !== undefined) this.#late.delete(oldest)
  }
}

function progressToken(params: Record<string, unknown> | undefined): unknown {
  const meta = params?._meta
  return typeof meta === 'object' && meta !== null ? (meta as Record<string, unknown>).progressToken : undefined
}

function withToken(params: Record<string, unknown> | undefined, token: number): Record<string, unknown> {
  return { ...params, _meta: { ...(params?._meta as object), progressToken: token } }
}

export function isRequest(message: NestedMessage): message is NestedRequest {
  return 'method' in message && 'id' in message && message.id !== undefined
}

export function isNotification(message: NestedMessage): message is NestedNotification {
  return 'method' in message && (!('id' in message) || message.id === undefined)
}
