/** Measures how long something works, and says when that is too long; it may be paused. */
export class WorkClock {
  readonly #over: () => void
  #left: number
  #since = 0
  #timer: NodeJS.Timeout | undefined

  constructor(ms: number, over: () => void) {
    this.#left = ms
    this.#over = over
  }

  run(): void {
    if (this.#timer !== undefined) return
    this.#since = performance.now()
    this.#timer = setTimeout(this.#over, Math.max(0, this.#left))
  }

  pause(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#left -= performance.now() - this.#since
  }
}
