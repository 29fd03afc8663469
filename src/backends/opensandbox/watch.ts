import { performance } from 'node:perf_hooks'
import { WorkspaceError } from '../../lib/errors.ts'
import type { PtyStream } from './pty-stream.ts'

export interface WatchOptions {
  /** Between two pings. Ms. */
  pingMs: number
  /** After so long without an answer it is asked what has become of the sandbox. Ms. */
  askMs: number
  /** After so long the stream counts as dead: while a process does not take its input, pings are not answered either. Ms. */
  deadMs: number
}

export const DEFAULT_WATCH: WatchOptions = { pingMs: 5_000, askMs: 10_000, deadMs: 40_000 }

/**
 * Watches a stream that may die without being closed: when the sandbox is paused, or was for a minute, when a write was stuck for a
 * minute. `whatBecame` gives the reason why there can be no answer, or nothing for a sandbox that runs. Ends with the stream.
 */
export class StreamWatch {
  readonly #options: WatchOptions
  readonly #whatBecame: () => Promise<WorkspaceError | undefined>
  #heard = performance.now()
  #ticked = performance.now()
  #asking = false

  constructor(whatBecame: () => Promise<WorkspaceError | undefined>, options: WatchOptions = DEFAULT_WATCH) {
    this.#options = options
    this.#whatBecame = whatBecame
  }

  /** A ping was answered. */
  pong(): void {
    this.#heard = performance.now()
  }

  start(stream: PtyStream): void {
    this.#heard = this.#ticked = performance.now()
    const timer = setInterval(() => this.#tick(stream), this.#options.pingMs).unref()
    stream.once('close', () => clearInterval(timer))
  }

  #tick(stream: PtyStream): void {
    const { pingMs, askMs, deadMs } = this.#options
    const now = performance.now()
    // This process was frozen itself.
    if (now - this.#ticked > 3 * pingMs) this.#heard = now
    this.#ticked = now
    const silence = now - this.#heard
    if (silence >= deadMs) {
      stream.destroy(
        new WorkspaceError('unavailable', `The stream into the sandbox is dead: silent for ${Math.round(silence)} ms`),
      )
      return
    }
    if (silence >= askMs) void this.#ask(stream)
    stream.ping()
  }

  async #ask(stream: PtyStream): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    try {
      const reason = await this.#whatBecame()
      if (reason !== undefined) stream.destroy(reason)
    } catch {
      // The server does not answer either: the stream has its own limit.
    } finally {
      this.#asking = false
    }
  }
}
