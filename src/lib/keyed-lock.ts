import { withSignal } from './deadline.ts'

/** Runs tasks of one key one after the other, in order of arrival; tasks of different keys run side by side. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>()

  /** Keys that are held or waited for. */
  get size(): number {
    return this.#tails.size
  }

  /** Runs `task` when its turn comes and gives its outcome. A signal that aborts while it waits gives up the turn. */
  async run<T>(key: string, task: () => Promise<T> | T, options: { signal?: AbortSignal | undefined } = {}): Promise<T> {
    const release = await this.acquire(key, options)
    try {
      return await task()
    } finally {
      release()
    }
  }

  /** Waits for the turn and takes it; gives back what ends it (idempotent). */
  async acquire(key: string, options: { signal?: AbortSignal | undefined } = {}): Promise<() => void> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    let release = (): void => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    const tail = before.then(() => held)
    this.#tails.set(key, tail)
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    try {
      await withSignal(before, options.signal)
    } catch (error) {
      release()
      throw error
    }
    return release
  }
}

/** Shares one run of a task among all callers of its key; the next call after its end starts anew. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>()

  /** Keys in flight. */
  get size(): number {
    return this.#running.size
  }

  /** The run in flight for `key`, or a new one. A caller whose signal aborts stops waiting; the run goes on for the others. */
  run(key: string, task: () => Promise<T>, options: { signal?: AbortSignal | undefined } = {}): Promise<T> {
    let running = this.#running.get(key)
    if (running === undefined) {
      running = Promise.resolve().then(task)
      const mine = running
      const forget = (): void => {
        if (this.#running.get(key) === mine) this.#running.delete(key)
      }
      this.#running.set(key, mine)
      mine.then(forget, forget)
    }
    return withSignal(running, options.signal)
  }
}
