import { EventLog } from './event-log.ts'
import type { SseStream } from './sse-stream.ts'

/** Bounds of what is kept of one channel for resuming. */
const KEPT = { maxChars: 1024 ** 2, maxAgeMs: 5 * 60_000 }
const RETRY_MS = 1_000

/** A logical stream of messages to the client. Connections carry it one after the other; its log lets each go on where the last one broke. */
export class EventChannel {
  readonly key: string
  readonly #log = new EventLog(KEPT)
  #stream: SseStream | undefined
  #written = 0
  #finishedAt: number | undefined

  constructor(key: string) {
    this.key = key
  }

  /** When the last message was sent; undefined while more may come. */
  get finishedAt(): number | undefined {
    return this.#finishedAt
  }

  get chars(): number {
    return this.#log.chars
  }

  /** Whether a connection carries it that is not known to be dead. */
  get live(): boolean {
    return this.#stream?.open === true && !this.#stream.stuck
  }

  get connected(): boolean {
    return this.#stream?.open === true
  }

  send(json: string): void {
    const event = this.#log.append(json, performance.now())
    if (this.#stream?.event(this.#id(event.seq), json)) this.#written = event.seq
  }

  /** Goes on over `stream`, behind event `from`, or behind what was written last; an older connection is let go. */
  attach(stream: SseStream, options: { from?: number; prime: boolean }): void {
    if (this.#stream?.open) this.#stream.cut()
    this.#stream = stream
    const from = Math.min(options.from ?? this.#written, this.#log.last)
    if (options.prime) stream.prime(this.#id(from), RETRY_MS)
    const { events, missing } = this.#log.after(from)
    if (missing > 0) stream.comment(`${missing} earlier events are no longer kept`)
    for (const event of events) {
      if (stream.event(this.#id(event.seq), event.data)) this.#written = event.seq
    }
    if (this.#finishedAt !== undefined) stream.end()
  }

  detach(stream: SseStream): void {
    if (this.#stream === stream) this.#stream = undefined
  }

  /** No more messages; what was sent is kept for a while. */
  finish(): void {
    this.#finishedAt ??= performance.now()
    this.#stream?.end()
  }

  tick(now: number): void {
    this.#log.trim(now)
    if (this.#stream?.open) this.#stream.tick()
  }

  #id(seq: number): string {
    return `${this.key}-${seq}`
  }
}

/** The channel and event number in a `Last-Event-ID`; undefined when it is none of ours. */
export function parseEventId(id: string): { key: string; seq: number } | undefined {
  const match = /^([a-z]\d*)-(\d{1,15})$/.exec(id)
  return match?.[1] === undefined ? undefined : { key: match[1], seq: Number(match[2]) }
}
