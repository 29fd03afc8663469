const WAIT_MS = 100

/** Decides when the default workspace is opened ahead of its first use: after the first list, or a moment after initialization. */
export class WarmUp {
  readonly #open: () => void
  #timer: NodeJS.Timeout | undefined
  #listed: boolean
  #initialized = false
  #done = false

  constructor(open: () => void, { listed }: { listed: boolean }) {
    this.#open = open
    this.#listed = listed
  }

  /** Tells of a client's message, by its method. */
  saw(method: string): void {
    if (method === 'tools/list') this.#listed = true
    if (method === 'notifications/initialized') this.#initialized = true
    if (this.#done || !this.#initialized) return
    if (this.#listed) this.#now()
    else this.#timer ??= setTimeout(() => this.#now(), WAIT_MS).unref()
  }

  /** Opens nothing any more. */
  stop(): void {
    this.#done = true
    clearTimeout(this.#timer)
  }

  #now(): void {
    if (this.#done) return
    this.stop()
    this.#open()
  }
}
