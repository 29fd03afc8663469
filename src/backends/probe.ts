import { childController, withDeadline } from '../lib/deadline.ts'
import { DEFAULT_HINT, type ErrorCode, toWorkspaceError } from '../lib/errors.ts'
import type { CallOptions, ProbeStep } from './backend.ts'

/** A service that is well answers one small question within this. */
const ANSWER_MS = 15_000
/** What only a service that was reached can say. */
const ANSWERS: ReadonlySet<ErrorCode> = new Set(['unauthenticated', 'permission_denied', 'limit_exceeded'])

export interface StepOptions extends CallOptions {
  /** The remedy where the error itself names none. */
  hint?: string | undefined
  /** Default: 15 s. */
  limitMs?: number
}

/** The steps of a probe, in order; each `false` means that the ones after it can't go well either. */
export class Probe {
  readonly steps: ProbeStep[] = []

  /** One step; `look` gives what was found, or throws what is wrong. */
  async step(name: string, look: (signal: AbortSignal) => Promise<string>, options: StepOptions = {}): Promise<boolean> {
    try {
      this.steps.push({ name, ok: true, detail: await within(`The step "${name}"`, look, options) })
      return true
    } catch (error) {
      this.steps.push(failedStep(name, error, options.hint))
      return false
    }
  }

  /** The step that everything after it stands on: what `connect` gives, told by `found`; `undefined` when it failed. */
  async connect<T>(
    name: string,
    connect: () => Promise<T>,
    options: StepOptions & { found(context: T): string },
  ): Promise<T | undefined> {
    let context: T | undefined
    const isThere = await this.step(
      name,
      async () => {
        context = await connect()
        return options.found(context)
      },
      options,
    )
    return isThere ? context : undefined
  }

  /** Two steps out of one small request with the operator's credentials: `reachable` and `authorised`. */
  async reach(address: string, ask: (signal: AbortSignal) => Promise<unknown>, options: StepOptions = {}): Promise<boolean> {
    const reachable: ProbeStep = { name: 'reachable', ok: true, detail: address }
    try {
      await within(`${address}: an answer`, ask, options)
      this.steps.push(reachable, { name: 'authorised', ok: true, detail: 'the credentials are taken' })
      return true
    } catch (error) {
      const answered = ANSWERS.has(toWorkspaceError(error).code)
      if (answered) this.steps.push(reachable)
      this.steps.push(answered ? failedStep('authorised', error) : failedStep('reachable', error, options.hint))
      return false
    }
  }
}

/** A failure as a step, with its remedy. */
export function failedStep(name: string, error: unknown, otherHint?: string): ProbeStep {
  const { code, message, hint } = toWorkspaceError(error)
  const own = hint === DEFAULT_HINT[code] && code !== 'cancelled' ? (otherHint ?? hint) : hint
  return { name, ok: false, detail: message, ...(own === undefined ? {} : { hint: own }) }
}

async function within<T>(what: string, run: (signal: AbortSignal) => Promise<T>, options: StepOptions): Promise<T> {
  const { controller, dispose } = childController(options.signal)
  try {
    return await withDeadline(run(controller.signal), options.limitMs ?? ANSWER_MS, what)
  } finally {
    // What is still under way is not waited for any more.
    controller.abort()
    dispose()
  }
}
