import { abortReason, onAbort } from '../../lib/deadline.ts'

/** Lets at most `places` tasks run at once; the others wait in order. */
export class Turns {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(places: number) {
    this.#free = places
  }

  /** Waits for a place, and gives what leaves it. Throws when aborted meanwhile. */
  async take(signal: AbortSignal | undefined): Promise<() => void> {
    if (signal?.aborted) throw abortReason(signal)
    if (this.#free > 0) this.#free -= 1
    else await this.#wait(signal)
    let left = false
    return () => {
      if (!left) this.#leave()
      left = true
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const off = onAbort(signal, reason => {
        this.#waiting.delete(enter)
        reject(reason)
      })
      const enter = (): void => {
        off()
        resolve()
      }
      this.#waiting.add(enter)
    })
  }

  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free += 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}
