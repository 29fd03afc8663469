const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Time limits of requests, each counted anew with every progress. They hold no process. */
export class CallLimits {
  readonly #overdue: (id: number) => void
  readonly #timers = new Map<number, NodeJS.Timeout>()

  constructor(overdue: (id: number) => void) {
    this.#overdue = overdue
  }

  set(id: number, ms: number): void {
    this.clear(id)
    const timer = setTimeout(
      () => {
        this.#timers.delete(id)
        this.#overdue(id)
      },
      Math.min(ms, LONGEST_TIMER_MS),
    )
    this.#timers.set(id, timer.unref())
  }

  refresh(id: number): void {
    this.#timers.get(id)?.refresh()
  }

  clear(id: number): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }
}
