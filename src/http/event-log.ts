/** One event of a stream: its number in the stream, counted from 1, and the message as JSON. */
export interface LoggedEvent {
  seq: number
  data: string
  at: number
}

/** What an event log may hold: characters and milliseconds. The newest event stays whatever its size. */
export interface EventLogBounds {
  maxChars: number
  maxAgeMs: number
}

/** The last events of one stream, kept so that a client which lost its connection can ask for what it missed. */
export class EventLog {
  readonly #bounds: EventLogBounds
  readonly #events: LoggedEvent[] = []
  #chars = 0
  #seq = 0

  constructor(bounds: EventLogBounds) {
    this.#bounds = bounds
  }

  /** Number of the newest event; 0 when there was none. */
  get last(): number {
    return this.#seq
  }

  get chars(): number {
    return this.#chars
  }

  append(data: string, now: number): LoggedEvent {
    const event = { seq: ++this.#seq, data, at: now }
    this.#events.push(event)
    this.#chars += data.length
    this.trim(now)
    return event
  }

  /** The events behind number `seq`, and how many of them are no longer kept. */
  after(seq: number): { events: LoggedEvent[]; missing: number } {
    const events = this.#events.filter(event => event.seq > seq)
    return { events, missing: Math.max(0, this.#seq - seq - events.length) }
  }

  /** Drops what is too old or too much. */
  trim(now: number): void {
    const { maxChars, maxAgeMs } = this.#bounds
    while (this.#events.length > 1) {
      const oldest = this.#events[0]
      if (oldest === undefined || (this.#chars <= maxChars && now - oldest.at <= maxAgeMs)) return
      this.#events.shift()
      this.#chars -= oldest.data.length
    }
  }
}
