import { toWorkspaceError } from '../../lib/errors.ts'
import type { NestedMessage, NestedStartParams } from '../protocol-nested.ts'
import type { NestedTransport, TransportEnd, TransportEvents } from './transport.ts'

/** Id of the gateway's own `initialize`; those of hosts are numbers from 1. */
const INITIALIZE = 0

type Done = { result: Record<string, unknown> } | { end: TransportEnd }

export interface HandshakeOptions {
  transports: readonly ((events: TransportEvents) => NestedTransport)[]
  events: TransportEvents
  opened(transport: NestedTransport): void
  failed(end: TransportEnd): void
}

/** Opens a server and exchanges `initialize` with it, within a budget; where one transport is the wrong kind, by the next. */
export class Handshake {
  readonly done: Promise<Done>
  readonly #params: NestedStartParams
  readonly #options: HandshakeOptions
  readonly #timer: NodeJS.Timeout
  #settle: (done: Done) => void = () => {}
  #state: 'starting' | 'done' | 'failed' = 'starting'
  #tried = 0
  #transport: NestedTransport | undefined

  constructor(params: NestedStartParams, options: HandshakeOptions) {
    this.#params = params
    this.#options = options
    this.done = new Promise(resolve => (this.#settle = resolve))
    this.#timer = setTimeout(() => this.#timedOut(), params.budgetMs)
    // Whoever made it must have it before the first event.
    queueMicrotask(() => this.#next())
  }

  get state(): 'starting' | 'done' | 'failed' {
    return this.#state
  }

  /** Whether a message is the answer that is awaited here. */
  takes(message: NestedMessage): boolean {
    if (this.#state !== 'starting' || 'method' in message || message.id !== INITIALIZE) return false
    const { result, error } = message
    if (error !== undefined || typeof result !== 'object' || result === null) {
      const why = error?.message ?? 'no result'
      this.#fail({ reason: `it refused to initialize: ${why}` })
      return true
    }
    this.#end({ result: result as Record<string, unknown> })
    if (this.#transport !== undefined) this.#transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return true
  }

  /** Whether the end of a transport was dealt with here. */
  closed(end: TransportEnd): boolean {
    if (this.#state !== 'starting') return false
    if (end.wrongKind && this.#tried < this.#options.transports.length) this.#next()
    else this.#fail(end.exitCode === undefined ? end : { ...end, reason: `${end.reason} before it answered initialize` })
    return true
  }

  giveUp(reason: string): void {
    if (this.#state === 'starting') this.#end({ end: { reason } })
  }

  #next(): void {
    if (this.#state !== 'starting') return
    const open = this.#options.transports[this.#tried++]
    try {
      this.#transport = open?.(this.#options.events)
      if (this.#transport === undefined) return
      this.#options.opened(this.#transport)
      const { initialize } = this.#params
      this.#transport.send({ jsonrpc: '2.0', id: INITIALIZE, method: 'initialize', params: initialize })
    } catch (error) {
      this.#fail({ reason: `it can't be started: ${toWorkspaceError(error).message}` })
    }
  }

  #timedOut(): void {
    this.#fail({ reason: `it did not answer initialize within ${this.#params.budgetMs / 1000} s` })
  }

  #fail(end: TransportEnd): void {
    this.#end({ end })
    this.#options.failed(end)
    void this.#transport?.close()
  }

  #end(done: Done): void {
    if (this.#state !== 'starting') return
    this.#state = 'result' in done ? 'done' : 'failed'
    clearTimeout(this.#timer)
    this.#settle(done)
  }
}
