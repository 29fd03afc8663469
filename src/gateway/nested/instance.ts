import type { LinkPort } from '../dispatch.ts'
import type { NestedFailure, NestedInfo, NestedStartParams } from '../protocol-nested.ts'
import { Handshake } from './handshake.ts'
import { Relay } from './relay.ts'
import { TextRing } from './text-ring.ts'
import type { NestedTransport, TransportEnd, TransportEvents } from './transport.ts'

/** What an instance needs of the gateway. */
export interface InstanceOptions {
  id: string
  params: NestedStartParams
  /** Opens the transports to try, in order; each is given up before the next is opened. */
  transports: readonly ((events: TransportEvents) => NestedTransport)[]
  link(id: string): LinkPort | undefined
  /** Called once, when the instance is over. */
  onEnd(instance: Instance): void
}

/** A nested server from its start to its end. */
export class Instance {
  readonly id: string
  readonly params: NestedStartParams
  /** What is said between the server and the hosts. */
  readonly relay: Relay
  readonly #options: InstanceOptions
  readonly #stderr = new TextRing()
  readonly #handshake: Handshake
  #transport: NestedTransport | undefined
  #over = false
  #ending: Promise<void> | undefined

  constructor(options: InstanceOptions) {
    const { id, params, link } = options
    this.id = id
    this.params = params
    this.#options = options
    this.relay = new Relay({ server: id, name: params.name, link, transport: () => this.#transport })
    this.#handshake = new Handshake(params, {
      transports: options.transports,
      events: this.#events(),
      opened: transport => (this.#transport = transport),
      failed: end => this.#finish(end),
    })
  }

  /** The answer to `initialize`, or why there is none. */
  get ready(): Promise<{ result: Record<string, unknown> } | { failure: NestedFailure }> {
    return this.#handshake.done.then(done => ('result' in done ? done : { failure: this.#failure(done.end) }))
  }

  get pid(): number | undefined {
    return this.#transport?.pid
  }

  get state(): 'starting' | 'ready' {
    return this.#handshake.state === 'starting' ? 'starting' : 'ready'
  }

  /** Requests of hosts that wait for an answer; a start counts as one. */
  get inFlight(): number {
    return this.relay.inFlight + (this.state === 'starting' ? 1 : 0)
  }

  /** Whether nobody waits for an answer of it, or is about to ask. */
  get idle(): boolean {
    return this.inFlight === 0 && !this.relay.isClaimed()
  }

  get idleMs(): number {
    return this.relay.idleMs
  }

  info(): NestedInfo {
    const { scope, name, hash } = this.params
    const { links, idleMs } = this.relay
    return {
      ...{ server: this.id, scope, name, hash, state: this.state, stderrTail: this.#stderr.tail() },
      ...{ inFlight: this.inFlight, idleMs, links },
      ...(this.pid === undefined ? {} : { pid: this.pid }),
    }
  }

  /** Ends the server with all its processes; waiting requests fail. */
  stop(reason: string): Promise<void> {
    this.#ending ??= this.#stop(reason)
    return this.#ending
  }

  async #stop(reason: string): Promise<void> {
    this.#handshake.giveUp(reason)
    this.#finish({ reason }, { stopped: true })
    await this.#transport?.close()
  }

  #events(): TransportEvents {
    return {
      message: (message, related) => {
        if (!this.#over && !this.#handshake.takes(message)) this.relay.receive(message, related)
      },
      refused: (bytes, message) => {
        const reason = `it sent a message of ${bytes} bytes, which is more than a link carries`
        this.#stderr.add(`[atelier] ${reason}\n`)
        this.relay.refused(message, reason)
      },
      noise: text => this.#stderr.add(text),
      closed: end => {
        if (!this.#handshake.closed(end)) this.#finish(end)
      },
    }
  }

  #finish(end: TransportEnd, how: { stopped?: true } = {}): void {
    if (this.#over) return
    this.#over = true
    this.relay.dispose()
    this.relay.failAll(end)
    if (this.#handshake.state === 'done') this.relay.end({ server: this.id, ...this.#failure(end), ...how })
    this.#options.onEnd(this)
  }

  #failure({ reason, exitCode, signal }: TransportEnd): NestedFailure {
    const exit = { ...(exitCode === undefined ? {} : { exitCode }), ...(signal === undefined ? {} : { signal }) }
    return { reason, stderrTail: this.#stderr.tail(), ...exit }
  }
}
