import { performance } from 'node:perf_hooks'

export interface HeartbeatOptions {
  /** Silence after which the peer is asked for a sign, in ms. */
  intervalMs: number
  /** Silence after which the peer counts as dead, in ms. */
  deadMs: number
}
export const DEFAULT_HEARTBEAT: HeartbeatOptions = { intervalMs: 15_000, deadMs: 45_000 }

/**
 * Watches for a peer that fell silent. A gap in the own clock (a frozen process, a suspended laptop) is no silence of the peer:
 * it starts the count anew and asks first.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #ask: () => void
  readonly #dead: () => void
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout
  #heard: number
  #ticked: number

  constructor(options: HeartbeatOptions, actions: { ask(): void; dead(): void; now?: () => number }) {
    this.#options = options
    this.#ask = actions.ask
    this.#dead = actions.dead
    this.#now = actions.now ?? (() => performance.now())
    this.#heard = this.#ticked = this.#now()
    this.#timer = setInterval(() => this.tick(), this.#tickMs).unref()
  }

  get #tickMs(): number {
    return Math.max(1, this.#options.intervalMs / 3)
  }

  /** A sign of life came. */
  heard(): void {
    this.#heard = this.#now()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** One look at the clock; the timer's work, public for tests with a clock of their own. */
  tick(): void {
    const now = this.#now()
    const frozen = now - this.#ticked > 2 * this.#tickMs + 50
    this.#ticked = now
    if (frozen) this.#heard = now
    const silence = now - this.#heard
    if (silence >= this.#options.deadMs) this.#dead()
    else if (frozen || silence >= this.#options.intervalMs) this.#ask()
  }
}
