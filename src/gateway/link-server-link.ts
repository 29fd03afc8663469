import { WorkspaceError } from '../lib/errors.ts'
import type { Handlers, LinkContext, LinkPort } from './dispatch.ts'
import { LinkCalls } from './link-server-calls.ts'
import type { Notification, Notifications, OpenParams } from './protocol.ts'
import { Channel } from './wire-channel.ts'
import { type LinkMessage, readMessage } from './wire-message.ts'
import type { WireStream } from './wire-stream.ts'

/** News that nobody fetched is dropped beyond this; it tells only what can be asked for. */
const MAX_NEWS_BACKLOG = 1024 * 1024

/** What a link tells its server. */
export interface ServerLinkEvents {
  opened(link: ServerLink, params: OpenParams): void
  /** Variables that the environment itself gives every command; a host's go over them. */
  baseEnv?: Readonly<Record<string, string>> | undefined
}

/** One host's link as the gateway sees it; outlives the streams that it comes over. */
export class ServerLink implements LinkPort {
  readonly id: string
  readonly channel: Channel
  readonly calls: LinkCalls
  readonly #events: ServerLinkEvents
  #context: LinkContext | undefined
  #open: OpenParams | undefined
  stream: WireStream | undefined
  epoch = 0

  constructor(id: string, handlers: Handlers, events: ServerLinkEvents) {
    this.id = id
    this.#events = events
    this.channel = new Channel({
      message: message => this.#message(message),
      chunk: (call, bytes) => this.calls.chunk(call, bytes),
    })
    this.calls = new LinkCalls(this.channel, handlers, () => this.attached)
  }

  /** Who dials; absent until the host said so. */
  get context(): LinkContext | undefined {
    return this.#context
  }

  get graceMs(): number {
    return this.#open?.graceMs ?? 0
  }

  get idleMs(): number | undefined {
    return this.#open?.idleMs
  }

  notify<N extends Notification>(method: N, params: Notifications[N]): void {
    if (this.#context === undefined || this.channel.backlog > MAX_NEWS_BACKLOG) return
    this.channel.send({ jsonrpc: '2.0', method, params })
  }

  get attached(): boolean {
    return this.stream !== undefined
  }

  get backlog(): number {
    return this.channel.backlog
  }

  tell<N extends Notification>(method: N, params: Notifications[N]): void {
    this.channel.send({ jsonrpc: '2.0', method, params }, 'bulk')
  }

  #message(raw: Record<string, unknown>) {
    const message = readMessage(raw)
    if (message.kind === 'notification') return this.calls.notification(message.method, message.params)
    if (message.kind !== 'request') throw new WorkspaceError('protocol', 'A host answers no requests')
    if (message.method === 'open') this.#opens(message)
    this.calls.request(message, this.#context)
  }

  #opens(message: LinkMessage & { kind: 'request' }): void {
    const params = message.params as Partial<OpenParams>
    const env = params.env
    const valid =
      typeof params.owner === 'string' &&
      Number.isFinite(params.graceMs) &&
      (params.idleMs === undefined || Number.isFinite(params.idleMs)) &&
      typeof env === 'object' &&
      env !== null &&
      Object.values(env).every(value => typeof value === 'string')
    if (!valid) throw new WorkspaceError('protocol', 'The parameters of "open" are malformed')
    if (this.#context !== undefined) return
    this.#open = params as OpenParams
    const { owner, env: own } = this.#open
    this.#context = Object.freeze({ id: this.id, owner, env: Object.freeze({ ...this.#events.baseEnv, ...own }) })
    this.#events.opened(this, this.#open)
  }
}
