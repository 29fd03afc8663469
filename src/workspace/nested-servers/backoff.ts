import { formatMs } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'

const FIRST_MS = 500
const LONGEST_MS = 300_000
/** A pause up to this is waited for; a longer one is told. */
const WAIT_MS = 2_000
/** A server that ran for so long, or answered something, was no failure. */
const STEADY_MS = 30_000

/** How long a server that keeps failing is left alone: twice as long each time, up to five minutes. */
export class Backoff {
  #failures = 0
  #until = 0
  #reason = ''

  failed(reason: string): void {
    this.#failures += 1
    this.#reason = reason
    this.#until = performance.now() + Math.min(FIRST_MS * 2 ** (this.#failures - 1), LONGEST_MS)
  }

  /** A running server ended. */
  ended(reason: string, { ranMs, answered }: { ranMs: number; answered: boolean }): void {
    if (ranMs >= STEADY_MS || answered) this.reset()
    else this.failed(reason)
  }

  reset(): void {
    this.#failures = 0
    this.#until = 0
  }

  /** Time to wait before the next try, in ms; throws `unavailable` where that is too long to wait for. */
  pause(name: string): number {
    const left = Math.max(0, this.#until - performance.now())
    if (left <= WAIT_MS) return left
    const next = formatMs(Math.ceil(left / 1000) * 1000)
    const message = `The nested server ${JSON.stringify(name)} failed ${this.#failures} times in a row: ${this.#reason}`
    throw new WorkspaceError('unavailable', message, { hint: `It is tried again in ${next}; mcp_list shows what it wrote.` })
  }
}
