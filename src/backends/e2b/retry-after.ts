import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** Where the HTTP client under the SDK, undici, tells of each answer. */
const ANSWERS = 'undici:request:headers'
const RATE_LIMITED = 429

interface Answer {
  response?: { statusCode?: number; headers?: readonly (Buffer | string)[] }
}

/** What the service says about when to ask again, which the SDK keeps to itself once it gave up. */
export interface RetryAfter {
  /** Of the last refusal since; ms. */
  ms: number | undefined
  stop(): void
}

/** Listens until `stop`. */
export function watchRetryAfter(): RetryAfter {
  const hear = (message: unknown): void => {
    const { statusCode, headers = [] } = (message as Answer).response ?? {}
    if (statusCode !== RATE_LIMITED) return
    const words = headers.map(String)
    const at = words.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'retry-after')
    const seconds = Number(words[at + 1])
    watch.ms = at >= 0 && Number.isFinite(seconds) ? seconds * 1_000 : undefined
  }
  const watch: RetryAfter = { ms: undefined, stop: () => void unsubscribe(ANSWERS, hear) }
  subscribe(ANSWERS, hear)
  return watch
}
