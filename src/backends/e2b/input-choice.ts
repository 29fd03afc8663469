import { performance } from 'node:perf_hooks'

/** A service that refused, or was late so often in a row, is not tried again for so long. */
const AGAIN_MS = 10 * 60_000
const LATE_TIMES = 2

/** Whether one service takes the ordered stream of input, as far as was found out. */
export class InputChoice {
  readonly #now: () => number
  #known = false
  #late = 0
  #closedUntil = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether a stream is worth a try. */
  get open(): boolean {
    return this.#now() >= this.#closedUntil
  }

  /** Whether the last stream went well. */
  get known(): boolean {
    return this.#known
  }

  took(): void {
    this.#known = true
    this.#late = 0
  }

  /** A stream that came to nothing; whether there will be none for a while. One that was only late may be a bad moment. */
  failed(how: 'refused' | 'late'): boolean {
    this.#known = false
    this.#late += 1
    if (how === 'late' && this.#late < LATE_TIMES) return false
    this.#late = 0
    this.#closedUntil = this.#now() + AGAIN_MS
    return true
  }
}
