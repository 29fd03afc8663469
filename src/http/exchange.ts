import type { ServerResponse } from 'node:http'
import type { JsonRpcAnswer, JsonRpcMessage, RequestId } from '../mcp/message.ts'
import type { Accepted } from './negotiate.ts'
import { sendJson } from './respond.ts'

/** How long an answer may take to go out as plain JSON; a slower one, or one with messages before it, becomes an event stream. */
const JSON_WINDOW_MS = 50

/** Where an exchange puts messages once it has become an event stream. */
export interface ExchangeStream {
  send(json: string): void
  finish(): void
}

export interface ExchangeOptions {
  accepted: Accepted
  /** The request was an array: so is a JSON answer. */
  batch: boolean
  /** Starts the event stream on the response. */
  openStream(): ExchangeStream
}

/** The requests of one POST until all are answered. The client's connection may end before; the requests go on. */
export class Exchange {
  readonly #response: ServerResponse
  readonly #waiting: Set<RequestId>
  readonly #options: ExchangeOptions
  readonly #answers: JsonRpcAnswer[] = []
  #stream: ExchangeStream | undefined
  #window: NodeJS.Timeout | undefined

  constructor(response: ServerResponse, ids: readonly RequestId[], options: ExchangeOptions) {
    this.#response = response
    this.#waiting = new Set(ids)
    this.#options = options
    if (options.accepted.stream) this.#window = setTimeout(() => this.#becomeStream(), JSON_WINDOW_MS)
  }

  /** Sends a message that belongs to a request here; false when this response can only carry the answer. */
  carry(message: JsonRpcMessage): boolean {
    if (!this.#options.accepted.stream || this.#waiting.size === 0) return false
    this.#becomeStream()?.send(JSON.stringify(message))
    return true
  }

  answer(message: JsonRpcAnswer): void {
    if (message.id === null || !this.#waiting.delete(message.id)) return
    if (this.#stream === undefined && this.#options.accepted.json) this.#answers.push(message)
    else this.#becomeStream()?.send(JSON.stringify(message))
    if (this.#waiting.size === 0) this.#finish()
  }

  /** The client gave up on a request: no answer will come. */
  forget(id: RequestId): void {
    if (this.#waiting.delete(id) && this.#waiting.size === 0) this.#finish()
  }

  #finish(): void {
    clearTimeout(this.#window)
    if (this.#stream !== undefined) this.#stream.finish()
    else if (this.#answers.length > 0) sendJson(this.#response, 200, this.#options.batch ? this.#answers : this.#answers[0])
    else if (this.#options.accepted.stream) this.#becomeStream()?.finish()
    else sendJson(this.#response, 202)
  }

  #becomeStream(): ExchangeStream | undefined {
    clearTimeout(this.#window)
    if (this.#stream === undefined) {
      this.#stream = this.#options.openStream()
      for (const early of this.#answers.splice(0)) this.#stream.send(JSON.stringify(early))
    }
    return this.#stream
  }
}
