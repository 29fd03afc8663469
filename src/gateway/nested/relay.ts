import { toWorkspaceError } from '../../lib/errors.ts'
import type { LinkPort } from '../dispatch.ts'
import type {
  NestedAnswer,
  NestedErrorData,
  NestedExitedNews,
  NestedId,
  NestedMessage,
  NestedNotification,
  NestedRequest,
} from '../protocol-nested.ts'
import { Asked } from './asked.ts'
import { Flow } from './flow.ts'
import type { Overlong } from './read-messages.ts'
import { isNotification, isRequest, RequestMap, type SentRequest } from './request-map.ts'
import type { NestedTransport, TransportEnd } from './transport.ts'

const SERVER_ENDED = -32000
const NO_CLIENT = -32000
/** News for hosts that are not there is kept up to this many messages. */
const MAX_QUEUED = 256
/** A host that took a server is about to send it something for so long. */
const CLAIM_MS = 10_000
/** A server that ended so soon after its last message did not begin with anything new. */
const LAST_WORDS_MS = 1000

export interface RelayOptions {
  server: string
  name: string
  link(id: string): LinkPort | undefined
  transport(): NestedTransport | undefined
}

/** Carries messages between one server and the links that use it: each gets the answers to its own requests, all get the news. */
export class Relay {
  readonly #options: RelayOptions
  readonly #requests = new RequestMap<string>()
  readonly #asked = new Asked<string>()
  readonly #links = new Set<string>()
  /** Links that took the server and have not sent it anything yet, and since when. */
  readonly #claims = new Map<string, number>()
  readonly #flow: Flow
  #queue: NestedNotification[] = []
  #latest = ''
  #usedAt = performance.now()
  #heardAt = Number.NEGATIVE_INFINITY

  constructor(options: RelayOptions) {
    this.#options = options
    this.#flow = new Flow(options)
  }

  /** Requests of hosts that wait for an answer. */
  get inFlight(): number {
    return this.#requests.size
  }

  get links(): number {
    return this.#links.size
  }

  /** Since a host last had to do with it, in ms. */
  get idleMs(): number {
    return Math.round(performance.now() - this.#usedAt)
  }

  /** Whether a host, or one beside `link`, took the server just now and is about to use it. */
  isClaimed(link?: string): boolean {
    const since = performance.now() - CLAIM_MS
    return [...this.#claims].some(([claimer, at]) => claimer !== link && at > since)
  }

  /** A host has got the server: its claim counts from now on. */
  claim(link: string): void {
    if (this.#links.has(link)) this.#claims.set(link, performance.now())
  }

  /** A host takes part; what was said while none was there comes to it. */
  join(link: string): void {
    this.#use(link)
    this.claim(link)
    for (const message of this.#queue.splice(0)) this.#tell(link, message)
  }

  /** Takes a message of a link. */
  send(link: string, message: NestedMessage) {
    this.#use(link)
    this.#claims.delete(link)
    if (isRequest(message)) return this.#request(link, message)
    if (!isNotification(message)) return this.#reply(link, message)
    const cancelling = message.method === 'notifications/cancelled'
    const mapped = cancelling ? this.#requests.cancel(link, message)?.message : message
    if (mapped !== undefined) this.#toServer(mapped)
  }

  /** Takes leave of the links that are not there any more. */
  leaveGone(): void {
    for (const link of this.#links) if (this.#options.link(link) === undefined) this.leave(link)
  }

  /** A link is gone for good: its requests are cancelled, what it was asked is refused. */
  leave(link: string): void {
    if (!this.#links.delete(link)) return
    this.#claims.delete(link)
    for (const { id } of this.#requests.take(link)) {
      const params = { requestId: id, reason: 'The client has left' }
      this.#toServer({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    }
    for (const id of this.#asked.take(link)) this.#refuse(id, 'The client has left')
  }

  /** Takes a message of the server; `related`: id of the request that it came with. */
  receive(message: NestedMessage, related?: number) {
    const sent = related === undefined ? undefined : this.#requests.get(related)
    this.#heardAt = performance.now()
    if (isRequest(message)) return this.#ask(message, sent)
    if (isNotification(message)) return this.#notify(message, sent)
    const found = this.#requests.answer(message)
    if (found !== undefined) this.#tell(found.sent.party, found.message)
  }

  /**
   * A message of the server can't be carried: who waits for that answer is told, or the server that its question went nowhere. An
   * answer without an id is that of the only request, if there is just one.
   */
  refused({ kind, id }: Overlong, reason: string) {
    if (kind === 'notification') return
    if (kind === 'request') return this.#refuse(id as NestedId, `The request was not passed on: ${reason}`)
    const only = this.#requests.size === 1 ? this.#requests.latest : undefined
    const sent = (typeof id === 'number' ? this.#requests.get(id) : undefined) ?? only
    if (sent !== undefined) this.#fail(sent, reason)
  }

  /** The server has ended. */
  failAll({ reason, exitCode }: TransportEnd): void {
    const sinceHeard = performance.now() - this.#heardAt
    for (const sent of this.#requests.all) {
      // One that ends by itself after an answer was on its way out when the next request was written to it.
      const unseen = exitCode === 0 && sent.at >= this.#heardAt && sinceHeard < LAST_WORDS_MS
      this.#fail(sent, reason, unseen ? { unseen } : undefined)
    }
  }

  /** Tells every host that the server has ended, after all that it said. */
  end(news: NestedExitedNews): void {
    for (const link of this.#links) this.#options.link(link)?.tell('nested.exited', news)
  }

  dispose(): void {
    this.#flow.dispose()
  }

  #use(link: string): void {
    this.#links.add(link)
    this.#latest = link
    this.#usedAt = performance.now()
  }

  #request(link: string, message: NestedRequest): void {
    const sent = this.#requests.open(link, message)
    try {
      this.#options.transport()?.send(sent.mapped)
    } catch (error) {
      this.#fail(sent, toWorkspaceError(error).message)
    }
  }

  #reply(link: string, message: NestedAnswer): void {
    if (this.#asked.answered(message.id, link)) this.#toServer(message)
  }

  /** Sends what nobody waits for; a server that does not read its input is told by the requests that fail. */
  #toServer(message: NestedMessage): void {
    try {
      this.#options.transport()?.send(message)
    } catch (error) {
      if (toWorkspaceError(error).code !== 'limit_exceeded') throw error
    }
  }

  #fail(sent: SentRequest<string>, reason: string, data?: NestedErrorData): void {
    const message = `The nested server ${JSON.stringify(this.#options.name)} did not answer: ${reason}.`
    const found = this.#requests.answer({
      jsonrpc: '2.0',
      id: sent.id,
      error: { code: SERVER_ENDED, message, ...(data && { data }) },
    })
    if (found !== undefined) this.#tell(found.sent.party, found.message)
  }

  /** A request of the server goes to the host whose call it belongs to, else to the one heard of last. */
  #ask(message: NestedRequest, related: SentRequest<string> | undefined) {
    const { id, method } = message
    if (method === 'ping') return this.#toServer({ jsonrpc: '2.0', id, result: {} })
    const during = related ?? this.#requests.latestCall
    const link = [during?.party, this.#latest, ...this.#links].find(each => each && this.#options.link(each) !== undefined)
    if (link === undefined) return this.#refuse(id, `No client is connected that could answer ${method}`)
    this.#asked.add(id, link)
    this.#tell(link, message, related)
  }

  #notify(message: NestedNotification, related: SentRequest<string> | undefined): void {
    if (message.method === 'notifications/progress') {
      const found = this.#requests.progress(message)
      if (found !== undefined) this.#tell(found.sent.party, found.message, found.sent)
    } else if (message.method === 'notifications/cancelled') {
      const link = this.#asked.withdraw(message.params?.requestId)
      if (link !== undefined) this.#tell(link, message)
    } else this.#announce(message, related)
  }

  /** What belongs to no request goes to all; while no host is there it is kept, within a bound. */
  #announce(message: NestedNotification, related: SentRequest<string> | undefined): void {
    let heard = false
    for (const link of this.#links) {
      heard ||= this.#options.link(link)?.attached === true
      this.#tell(link, message, related)
    }
    this.#queue = heard ? [] : [...this.#queue, message].slice(-MAX_QUEUED)
  }

  #tell(link: string, message: NestedMessage, related?: SentRequest<string>): void {
    const own = related?.party === link ? { related: related.original } : {}
    this.#flow.tell(link, { server: this.#options.server, message, ...own })
  }

  #refuse(id: NestedId, reason: string): void {
    this.#toServer({ jsonrpc: '2.0', id, error: { code: NO_CLIENT, message: reason } })
  }
}
