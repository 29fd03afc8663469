import { Asked } from '../../gateway/nested/asked.ts'
import { isNotification, isRequest, RequestMap, type SentRequest } from '../../gateway/nested/request-map.ts'
import type {
  NestedAnswer,
  NestedErrorData,
  NestedId,
  NestedMessageNews,
  NestedNotification,
  NestedRequest,
} from '../../gateway/protocol.ts'
import { formatMs } from '../../lib/deadline.ts'
import { JSON_RPC_CODE, toWorkspaceError } from '../../lib/errors.ts'
import { CallLimits } from './call-limits.ts'
import type { NestedMessage } from './port.ts'

/** Who talks with a server: an attachment, or the supervisor itself. */
export interface Party {
  message(server: string, message: NestedMessage, related?: NestedId): void
}

export interface ConversationOptions {
  name: string
  callTimeoutMs: number
  /** Those who hear the server, the latest first. */
  parties(): readonly Party[]
  /** Whether the server runs, or is about to. */
  running(): boolean
  /** Sends a message, if it is still wanted once the server runs. Throws `not_found` when that had ended without a word. */
  transmit(message: NestedMessage, isWanted?: () => boolean): Promise<void>
  /** A list changed; resolves when the kept one is the new one. */
  listChanged(method: string): Promise<void>
}

const SERVER_ENDED = -32000
const NO_CLIENT = -32000
/** For the lists that are read here. */
const OWN_LIMIT_MS = 30_000
const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/

/** What several parties of this host and one server say to each other. */
export class Conversation {
  readonly #options: ConversationOptions
  readonly #requests = new RequestMap<Party>()
  readonly #asked = new Asked<Party>()
  readonly #limits: CallLimits
  readonly #waiting = new Map<NestedId, (answer: NestedAnswer) => void>()
  readonly #own: Party = { message: (_server, message) => this.#ownAnswer(message as NestedAnswer) }
  readonly #onTheWay = new Set<{ sent: SentRequest<Party> }>()
  /** Requests that were sent a second time. */
  readonly #again = new WeakSet<SentRequest<Party>>()
  #lastOwn = 0
  #answered = false

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#limits = new CallLimits(id => this.#overdue(id))
  }

  /** Requests that wait for an answer. */
  get inFlight(): number {
    return this.#requests.size
  }

  /** Whether the server has answered anything since it runs. */
  get answered(): boolean {
    return this.#answered
  }

  /** The server runs anew. */
  begun(): void {
    this.#answered = false
  }

  /** A request of the supervisor's own, for which no server is started; gives the answer, be it an error. */
  ask(method: string, params: Record<string, unknown>): Promise<NestedAnswer> {
    const id = ++this.#lastOwn
    const error = { code: SERVER_ENDED, message: 'it has ended' }
    if (!this.#options.running()) return Promise.resolve({ jsonrpc: '2.0', id, error })
    return new Promise(resolve => {
      this.#waiting.set(id, resolve)
      this.send(this.#own, { jsonrpc: '2.0', id, method, params })
    })
  }

  send(party: Party, message: NestedMessage) {
    if (isRequest(message)) return void this.#request(party, message)
    if (!this.#options.running()) return
    if (!isNotification(message)) {
      if (this.#asked.answered(message.id, party)) this.#tell(message)
    } else if (message.method !== 'notifications/cancelled') this.#tell(message)
    else this.#cancel(party, message)
  }

  /** A party has left: its requests are cancelled, what it was asked is refused. */
  leave(party: Party): void {
    for (const { id } of this.#requests.take(party)) {
      this.#limits.clear(id)
      this.#tell(cancelled(id, 'The client has left'))
    }
    for (const id of this.#asked.take(party)) this.#refuse(id, 'The client has left')
  }

  receive({ message, related }: NestedMessageNews) {
    const sent = typeof related === 'number' ? this.#requests.get(related) : undefined
    if (isRequest(message)) return this.#ask(message, sent)
    if (isNotification(message)) return this.#notify(message, sent)
    this.#answered = true
    if (isUnseen(message) && this.#sendAgain(message.id as number)) return
    const found = this.#requests.answer(message)
    if (found !== undefined) this.#answer(found.sent, found.message)
  }

  /** The server has ended: who waits for an answer gets an error. */
  ended(reason: string): void {
    this.#asked.clear()
    // What is still on its way to the server will find out, and may start the next one.
    const onTheWay = new Set([...this.#onTheWay].map(({ sent }) => sent))
    for (const sent of this.#requests.all)
      if (!onTheWay.has(sent)) this.#fail(sent, SERVER_ENDED, `ended before it answered ${sent.method}: ${reason}.`)
  }

  async #request(party: Party, message: NestedRequest): Promise<void> {
    await this.#deliver(this.#requests.open(party, message))
  }

  async #deliver(sent: SentRequest<Party>): Promise<void> {
    const delivery = { sent }
    const isWanted = (): boolean => this.#requests.get(sent.id) !== undefined
    this.#onTheWay.add(delivery)
    try {
      await this.#options.transmit(sent.mapped, isWanted).catch(error => {
        // The server was gone before it saw the request: that is nobody's fault.
        if (toWorkspaceError(error).code !== 'not_found' || !isWanted() || sent.party === this.#own) throw error
        return this.#options.transmit(sent.mapped, isWanted)
      })
      if (isWanted()) this.#limits.set(sent.id, this.#limitOf(sent))
    } catch (error) {
      const { code, message: reason } = toWorkspaceError(error)
      if (!isWanted()) return
      this.#requests.drop(sent.id)
      this.#answer(sent, { jsonrpc: '2.0', id: sent.original, error: { code: JSON_RPC_CODE[code], message: reason } })
    } finally {
      this.#onTheWay.delete(delivery)
    }
  }

  /** Sends a request once more that no server has seen; gives whether it did. */
  #sendAgain(id: number): boolean {
    const sent = this.#requests.get(id)
    if (sent === undefined || sent.party === this.#own || this.#again.has(sent)) return false
    this.#again.add(sent)
    void this.#deliver(sent)
    return true
  }

  #cancel(party: Party, message: NestedNotification): void {
    const found = this.#requests.cancel(party, message)
    if (found === undefined) return
    this.#limits.clear(found.sent.id)
    this.#tell(found.message)
  }

  #overdue(id: number) {
    const sent = this.#requests.get(id)
    if (sent === undefined) return
    const limit = formatMs(this.#limitOf(sent))
    // Whoever waits for a person's answer is not late.
    if (this.#asked.size > 0) return this.#limits.set(id, this.#limitOf(sent))
    this.#tell(cancelled(id, `No answer and no progress within ${limit}`))
    const what = `did not answer ${sent.method} within ${limit}, and told no progress: it was cancelled.`
    this.#fail(sent, JSON_RPC_CODE.timeout, what)
  }

  #limitOf({ party, method }: SentRequest<Party>): number {
    // This one is answered when its task is over, which may be any time.
    if (method === 'tasks/result') return Number.POSITIVE_INFINITY
    return party === this.#own ? OWN_LIMIT_MS : this.#options.callTimeoutMs
  }

  #fail(sent: SentRequest<Party>, code: number, what: string): void {
    this.#requests.drop(sent.id)
    const message = `The nested server ${JSON.stringify(this.#options.name)} ${what}`
    this.#answer(sent, { jsonrpc: '2.0', id: sent.original, error: { code, message } })
  }

  #answer(sent: SentRequest<Party>, message: NestedAnswer): void {
    this.#limits.clear(sent.id)
    sent.party.message(this.#options.name, message)
  }

  #ownAnswer(answer: NestedAnswer): void {
    const resolve = this.#waiting.get(answer.id as NestedId)
    this.#waiting.delete(answer.id as NestedId)
    resolve?.(answer)
  }

  /** A request of the server goes to the party whose call it belongs to, else to the latest one. */
  #ask(message: NestedRequest, related: SentRequest<Party> | undefined) {
    const parties = this.#options.parties()
    const open = related === undefined ? this.#requests.all.reverse() : [related]
    const party = open.find(sent => parties.includes(sent.party))?.party ?? parties[0]
    if (party === undefined) return this.#refuse(message.id, `No client is connected that could answer ${message.method}`)
    this.#asked.add(message.id, party)
    this.#give(party, message, related)
  }

  #notify(message: NestedNotification, related: SentRequest<Party> | undefined) {
    if (message.method === 'notifications/progress') return this.#progress(message)
    if (message.method === 'notifications/cancelled') {
      this.#asked.withdraw(message.params?.requestId)?.message(this.#options.name, message)
    } else if (LIST_CHANGED.test(message.method)) {
      void this.#options.listChanged(message.method).then(() => this.#announce(message))
    } else this.#announce(message, related)
  }

  #progress(message: NestedNotification): void {
    const found = this.#requests.progress(message)
    if (found === undefined) return
    this.#limits.refresh(found.sent.id)
    found.sent.party.message(this.#options.name, found.message, found.sent.original)
  }

  #announce(message: NestedNotification, related?: SentRequest<Party>): void {
    for (const party of this.#options.parties()) this.#give(party, message, related)
  }

  #give(party: Party, message: NestedMessage, related: SentRequest<Party> | undefined): void {
    if (related?.party === party) party.message(this.#options.name, message, related.original)
    else party.message(this.#options.name, message)
  }

  #refuse(id: NestedId, reason: string): void {
    this.#tell({ jsonrpc: '2.0', id, error: { code: NO_CLIENT, message: reason } })
  }

  /** Sends what nobody waits for an answer to: a server that is gone does not need it. */
  #tell(message: NestedMessage): void {
    if (this.#options.running()) this.#options.transmit(message).catch(() => {})
  }
}

function cancelled(requestId: number, reason: string): NestedNotification {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } }
}

function isUnseen({ error }: NestedAnswer): boolean {
  return (error?.data as Partial<NestedErrorData> | undefined)?.unseen === true
}
