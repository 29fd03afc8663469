import { formatMs, sleep, throwIfAborted, withSignal } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { daytonaError, isOpen, retryAfterMs, statusOf } from './errors.ts'

export interface RequestOptions extends CallOptions {
  /** The request may be sent again when nobody knows what became of it. */
  repeatable?: boolean
  /** Waiting for a rate limit goes on for so long, in ms; default: 60 s. */
  patienceMs?: number
}

const PATIENCE_MS = 60_000
const RATE_LIMITED = 429
const FIRST_PAUSE_MS = 250
const REPEATS = 3

/** The one way to the service: waits where it is told to, repeats what may be repeated, and gives errors of ours. */
export class Calls {
  readonly #secrets: readonly string[]

  /** `secrets` are kept out of all messages. */
  constructor(secrets: readonly string[] = []) {
    this.#secrets = secrets
  }

  /** `what` begins the message of an error. On abort the request goes on, and its answer is dropped. */
  async run<T>(what: string, request: () => Promise<T>, options: RequestOptions = {}): Promise<T> {
    const { signal, repeatable = false, patienceMs = PATIENCE_MS } = options
    const deadline = Date.now() + patienceMs
    for (let pause = FIRST_PAUSE_MS, repeats = 0; ; pause *= 2) {
      throwIfAborted(signal)
      try {
        return await withSignal(request(), signal)
      } catch (error) {
        if (signal?.aborted) throw this.error(error, what)
        if (statusOf(error) === RATE_LIMITED) await this.#wait(what, error, { pause, deadline, signal })
        else if (repeatable && isOpen(error) && repeats++ < REPEATS && Date.now() + pause < deadline)
          await sleep(pause, { signal })
        else throw this.error(error, what)
      }
    }
  }

  /** An error of the service as ours. */
  error(error: unknown, what: string): WorkspaceError {
    return daytonaError(error, what, this.#secrets)
  }

  async #wait(
    what: string,
    error: unknown,
    { pause, deadline, signal }: { pause: number; deadline: number; signal: AbortSignal | undefined },
  ): Promise<void> {
    const asked = retryAfterMs(error)
    const ms = asked ?? pause
    if (Date.now() + ms < deadline) return sleep(ms, { signal })
    const { message, code, cause } = this.error(error, what)
    throw new WorkspaceError(code, message, {
      hint: asked === undefined ? undefined : `The service asks to wait ${formatMs(asked)}: try again then.`,
      cause,
    })
  }
}
