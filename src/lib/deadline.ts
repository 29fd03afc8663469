import { WorkspaceError } from './errors.ts'

/** The reason of an aborted signal as an error: an `Error` as it is, anything else as `cancelled`. */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  if (reason instanceof Error && reason.name !== 'AbortError') return reason
  return new WorkspaceError('cancelled', typeof reason === 'string' ? reason : 'The call was cancelled.', { cause: reason })
}

/** Throws the signal's reason when it is aborted already. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortReason(signal)
}

/** Calls `listener` once when `signal` aborts (at once if it has); gives back what takes the listener off again. */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: Error) => void): () => void {
  if (signal === undefined) return () => {}
  if (signal.aborted) {
    listener(abortReason(signal))
    return () => {}
  }
  const handler = (): void => listener(abortReason(signal))
  signal.addEventListener('abort', handler, { once: true })
  return () => signal.removeEventListener('abort', handler)
}

/** `promise`, or the signal's reason as soon as it aborts. The promise itself goes on; no listener stays behind. */
export function withSignal<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise<T>((resolve, reject) => {
    const off = onAbort(signal, reject)
    settle(promise, off).then(resolve, reject)
  })
}

/** `promise`, or a `timeout` error that says `what` took longer than `ms`. The promise itself goes on; the timer never stays. */
export function withDeadline<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = after(ms, () => reject(new WorkspaceError('timeout', `${what} took longer than ${formatMs(ms)}.`)))
    settle(promise, stop).then(resolve, reject)
  })
}

/** Cleans up before anyone learns of the outcome. */
async function settle<T>(promise: Promise<T>, cleanUp: () => void): Promise<T> {
  try {
    return await promise
  } finally {
    cleanUp()
  }
}

/** Waits `ms`; rejects with the signal's reason when that aborts first. `unref` lets the process end meanwhile. */
export function sleep(ms: number, options: { signal?: AbortSignal | undefined; unref?: boolean } = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    let off = (): void => {}
    const stop = after(
      ms,
      () => {
        off()
        resolve()
      },
      options,
    )
    off = onAbort(options.signal, reason => {
      stop()
      reject(reason)
    })
  })
}

/** A controller that also aborts with `parent`; `dispose` lets go of the parent and must be called when the work is over. */
export function childController(parent: AbortSignal | undefined): { controller: AbortController; dispose: () => void } {
  const controller = new AbortController()
  const dispose = onAbort(parent, reason => controller.abort(reason))
  return { controller, dispose }
}

export interface Limit {
  ms: number
  /** The reason when the time is over. */
  late(): Error
  signal?: AbortSignal | undefined
}

/** Gives up what is still under way when `signal` aborts or the time is over: its own signal aborts, and nobody waits for it. */
export async function withLimit<T>(run: (signal: AbortSignal) => Promise<T>, { ms, late, signal }: Limit): Promise<T> {
  const { controller, dispose } = childController(signal)
  const stop = after(ms, () => controller.abort(late()))
  try {
    return await withSignal(run(controller.signal), controller.signal)
  } finally {
    stop()
    dispose()
  }
}

/** Longest delay that Node's timers take; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A timer that also takes delays beyond 24.8 days and `Infinity`; gives back what stops it. */
export function after(ms: number, run: () => void, options: { unref?: boolean } = {}): () => void {
  let timer: NodeJS.Timeout | undefined
  const arm = (left: number): void => {
    const step = Math.min(left, LONGEST_TIMER_MS)
    timer = setTimeout(() => (left > step ? arm(left - step) : run()), step)
    if (options.unref) timer.unref()
  }
  arm(Math.max(0, ms))
  return () => clearTimeout(timer)
}

/** A duration for people: `250 ms`, `1.5 s`, `2 min`, `1 h`. */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return `${ms / 1_000} s`
  if (ms < 3_600_000) return `${Math.round(ms / 6_000) / 10} min`
  return `${Math.round(ms / 360_000) / 10} h`
}
