import type { ServerResponse } from 'node:http'
import type { Logger } from '../lib/log.ts'
import type { Scope } from '../manager/scope.ts'
import type { JsonRpcAnswer, JsonRpcMessage, RequestId } from '../mcp/message.ts'
import type { ClientSession, SessionOptions } from '../mcp/session.ts'
import { callId } from './body.ts'
import { EventChannel } from './event-channel.ts'
import { Exchange, type ExchangeStream } from './exchange.ts'
import { type Accepted, primesStreams, UNNAMED_PROTOCOL_VERSION } from './negotiate.ts'
import { SseStream } from './sse-stream.ts'

/** A response may hold this much that its client did not read yet. */
const MAX_BUFFERED_BYTES = 8 * 1024 ** 2
/** What finished streams of one session may keep together for resuming, in characters. */
const KEPT_CHARS = 4 * 1024 ** 2
const KEPT_STREAMS = 64
const KEPT_MS = 2 * 60_000

const STANDALONE = 's'

export interface HttpSessionOptions {
  id: string
  scope: Scope
  logger: Logger
  open(options: SessionOptions): ClientSession
}

/** One client's session over HTTP: carries its messages between the client's connections, which come and go, and the MCP session. */
export class HttpSession {
  readonly id: string
  readonly scope: Scope
  protocolVersion = UNNAMED_PROTOCOL_VERSION
  /** On the clock that nobody can set. */
  lastUsedAt = performance.now()
  readonly #logger: Logger
  readonly #client: ClientSession
  readonly #exchanges = new Map<RequestId, Exchange>()
  readonly #channels = new Map<string, EventChannel>()
  #posts = 0
  #initializeId: RequestId | undefined

  constructor(options: HttpSessionOptions) {
    this.id = options.id
    this.scope = options.scope
    this.#logger = options.logger
    this.#client = options.open({ scope: options.scope, send: (message, related) => this.#send(message, related) })
  }

  /** Requests whose answers are still to come. */
  get inFlight(): number {
    return Math.max(this.#exchanges.size, this.#client.inFlight)
  }

  /** Whether anybody would miss it: something is in flight, or a connection is open. */
  get busy(): boolean {
    return this.inFlight > 0 || [...this.#channels.values()].some(channel => channel.connected)
  }

  /** The first of these ids that is in flight already. */
  duplicate(ids: readonly RequestId[]): RequestId | undefined {
    return ids.find((id, index) => this.#exchanges.has(id) || ids.indexOf(id) !== index)
  }

  /** Hands the messages of one POST to the session; its calls are answered on `response`, whatever happens to the connection. */
  post(messages: readonly JsonRpcMessage[], response: ServerResponse, options: { accepted: Accepted; batch: boolean }): void {
    this.lastUsedAt = performance.now()
    const ids = messages.map(callId).filter(id => id !== undefined)
    if (ids.length > 0) {
      const exchange = new Exchange(response, ids, { ...options, openStream: () => this.#openPostStream(response) })
      for (const id of ids) this.#exchanges.set(id, exchange)
    }
    for (const message of messages) {
      if ('method' in message && message.method === 'initialize') this.#initializeId = callId(message)
      this.#client.receive(message)
      if ('method' in message && message.method === 'notifications/cancelled') this.#forget(message.params?.requestId)
    }
  }

  /** Opens the standalone stream, or goes on with the one that `resume` names. `taken`: a live one is there already. */
  listen(response: ServerResponse, resume?: { key: string; seq: number }): 'ok' | 'taken' | 'unknown' {
    this.lastUsedAt = performance.now()
    const key = resume?.key ?? STANDALONE
    const channel = this.#channels.get(key) ?? (key === STANDALONE ? this.#openChannel(STANDALONE) : undefined)
    if (channel === undefined) return 'unknown'
    if (resume === undefined && channel.live) return 'taken'
    const from = resume === undefined ? {} : { from: resume.seq }
    this.#connect(channel, response, from)
    return 'ok'
  }

  /** Keeps connections alive, cuts dead ones, and lets go of what is too old to be resumed. */
  tick(now: number): void {
    for (const channel of this.#channels.values()) channel.tick(now)
    this.#trim(now)
  }

  /** Cancels what is in flight and ends every connection; requests without an answer get an error. */
  async close(reason: string): Promise<void> {
    const closing = this.#client.close()
    for (const id of [...this.#exchanges.keys()]) {
      this.#answer({ jsonrpc: '2.0', id, error: { code: -32000, message: reason } })
    }
    for (const channel of this.#channels.values()) channel.finish()
    this.#channels.clear()
    await closing
  }

  #send(message: JsonRpcMessage, related: RequestId | undefined): void {
    if (!('method' in message)) {
      this.#answer(message)
      return
    }
    const exchange = related === undefined ? undefined : this.#exchanges.get(related)
    if (!exchange?.carry(message)) this.#openChannel(STANDALONE).send(JSON.stringify(message))
  }

  #answer(message: JsonRpcAnswer): void {
    const exchange = message.id === null ? undefined : this.#exchanges.get(message.id)
    if (exchange === undefined || message.id === null) {
      this.#logger.debug({ id: message.id }, 'An answer that nobody waits for was dropped')
      return
    }
    this.lastUsedAt = performance.now()
    if (message.id === this.#initializeId) this.#initialized(message)
    this.#exchanges.delete(message.id)
    exchange.answer(message)
  }

  #initialized({ result }: JsonRpcAnswer): void {
    this.#initializeId = undefined
    const version = (result as { protocolVersion?: unknown } | undefined)?.protocolVersion
    if (typeof version === 'string') this.protocolVersion = version
    // Refused: nobody will use it, so that it goes with the next search for idle sessions.
    else this.lastUsedAt = Number.NEGATIVE_INFINITY
  }

  #forget(requestId: unknown): void {
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return
    this.#exchanges.get(requestId)?.forget(requestId)
    this.#exchanges.delete(requestId)
  }

  /** Lets go of finished streams that are too old, or too much; the last one stays for its time whatever its size. */
  #trim(now: number): void {
    const finished = [...this.#channels.values()].filter(channel => channel.finishedAt !== undefined).reverse()
    let chars = 0
    for (const [index, { key, finishedAt = now, chars: own }] of finished.entries()) {
      chars += own
      const tooMuch = index > 0 && (chars > KEPT_CHARS || index >= KEPT_STREAMS)
      if (tooMuch || now - finishedAt > KEPT_MS) this.#channels.delete(key)
    }
  }

  #openPostStream(response: ServerResponse): ExchangeStream {
    this.#trim(performance.now())
    const channel = this.#openChannel(`p${++this.#posts}`)
    if (!response.destroyed) this.#connect(channel, response, {})
    return channel
  }

  #openChannel(key: string): EventChannel {
    let channel = this.#channels.get(key)
    if (channel === undefined) {
      channel = new EventChannel(key)
      this.#channels.set(key, channel)
    }
    return channel
  }

  #connect(channel: EventChannel, response: ServerResponse, options: { from?: number }): void {
    const onClose = (): void => channel.detach(stream)
    const stream = new SseStream(response, { maxBufferedBytes: MAX_BUFFERED_BYTES, onClose })
    channel.attach(stream, { ...options, prime: primesStreams(this.protocolVersion) })
  }
}
