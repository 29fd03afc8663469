import { performance } from 'node:perf_hooks'

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 5000

/** How long a link has been away, and how long to wait before the next attempt. */
export class Outage {
  readonly #limitMs: number
  #since = performance.now()
  #attempts = 0

  /** An outage begins at once: there is no link yet. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** The link was in use until now. */
  reset(): void {
    this.#since = performance.now()
    this.#attempts = 0
  }

  /** What is left of the limit, in ms; at least `leastMs`. */
  left(leastMs: number): number {
    return Math.max(leastMs, this.#since + this.#limitMs - performance.now())
  }

  get over(): boolean {
    return performance.now() - this.#since > this.#limitMs
  }

  /** Pause before the next attempt, in ms: short at first, doubled each time, with jitter. */
  pause(): number {
    const full = Math.min(FIRST_PAUSE_MS * 2 ** this.#attempts++, LONGEST_PAUSE_MS)
    return full * (0.5 + Math.random() / 2)
  }
}
