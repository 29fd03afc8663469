import { toWorkspaceError } from '../../lib/errors.ts'
import type { LinkPort } from '../dispatch.ts'
import type { NestedMessageNews } from '../protocol-nested.ts'
import type { NestedTransport } from './transport.ts'

/** With more than this unsent to a host, its servers are not read until it has caught up, in bytes. */
const HIGH = 4 * 1024 * 1024
const LOW = 1024 * 1024
/** A host that is away gets no more than this when it comes back, in bytes; what is over it is dropped. */
const AWAY = 16 * 1024 * 1024
const LOOK_MS = 10

export interface FlowOptions {
  link(id: string): LinkPort | undefined
  transport(): NestedTransport | undefined
}

/** Gives hosts the messages of one server, no faster than they take them. */
export class Flow {
  readonly #options: FlowOptions
  readonly #slow = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: FlowOptions) {
    this.#options = options
  }

  tell(link: string, news: NestedMessageNews) {
    const port = this.#options.link(link)
    if (port === undefined) return
    if (!port.attached && port.backlog > AWAY)
      return this.#dropped(port, news, 'the client was away and its answers were too many')
    try {
      port.tell('nested.message', news)
    } catch (error) {
      this.#dropped(port, news, toWorkspaceError(error).message)
    }
    if (port.attached && port.backlog > HIGH) this.#hold(link)
  }

  dispose(): void {
    clearInterval(this.#timer)
    this.#slow.clear()
  }

  /** Who waits for an answer has to get one. */
  #dropped(port: LinkPort, { server, message }: NestedMessageNews, reason: string): void {
    if ('method' in message || message.id === null) return
    const error = { code: -32000, message: `The answer was dropped: ${reason}.` }
    port.tell('nested.message', { server, message: { jsonrpc: '2.0', id: message.id, error } })
  }

  #hold(link: string): void {
    this.#slow.add(link)
    this.#options.transport()?.pause()
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS)
  }

  #look(): void {
    for (const link of this.#slow) {
      const port = this.#options.link(link)
      if (port === undefined || !port.attached || port.backlog < LOW) this.#slow.delete(link)
    }
    if (this.#slow.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#options.transport()?.resume()
  }
}
