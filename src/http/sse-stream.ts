import type { ServerResponse } from 'node:http'

/** Intervals without any progress after which a reader counts as dead. */
const STUCK_TICKS = 3

const SSE_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const

/** One response that carries server-sent events. A client that does not read is cut off at a bound, never buffered without one. */
export class SseStream {
  readonly #response: ServerResponse
  readonly #maxBufferedBytes: number
  #waiting = 0
  #stuckTicks = 0

  constructor(response: ServerResponse, options: { maxBufferedBytes: number; onClose(): void }) {
    this.#response = response
    this.#maxBufferedBytes = options.maxBufferedBytes
    response.on('close', options.onClose)
    response.on('error', () => {})
    response.writeHead(200, SSE_HEADERS)
    response.flushHeaders()
  }

  get open(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded
  }

  /** Bytes wait that the client did not take since the last tick: its connection may be dead. */
  get stuck(): boolean {
    return this.#stuckTicks > 0
  }

  /** An event without data: it only tells the id from which to resume, and how soon to try. */
  prime(id: string, retryMs: number): boolean {
    return this.#write(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`)
  }

  /** False when the stream is closed, or was cut because its reader is too slow. */
  event(id: string, data: string): boolean {
    return this.#write(`event: message\nid: ${id}\ndata: ${data}\n\n`)
  }

  comment(text: string): boolean {
    return this.#write(`: ${text}\n\n`)
  }

  /** Keeps the connection alive; cuts a reader that took nothing for several ticks. */
  tick(): void {
    const waiting = this.#response.writableLength
    this.#stuckTicks = waiting > 0 && waiting >= this.#waiting ? this.#stuckTicks + 1 : 0
    if (this.#stuckTicks >= STUCK_TICKS) this.cut()
    else if (this.#stuckTicks === 0) this.comment('keep-alive')
    this.#waiting = this.#response.writableLength
  }

  end(): void {
    if (this.open) this.#response.end()
  }

  /** Ends the connection without waiting for the reader. */
  cut(): void {
    this.#response.destroy()
  }

  #write(text: string): boolean {
    if (!this.open) return false
    if (this.#response.writableLength > this.#maxBufferedBytes) {
      this.cut()
      return false
    }
    this.#response.write(text)
    return true
  }
}
