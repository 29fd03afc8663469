import { toWorkspaceError } from '../../lib/errors.ts'
import type { NestedMessage } from '../protocol-nested.ts'
import { readEvents, type StreamEvent } from './event-stream.ts'
import { failureOf, HttpClient, type ServerAddress } from './http-request.ts'
import { readMessages } from './read-messages.ts'
import { isRequest } from './request-map.ts'
import type { NestedTransport, TransportEnd, TransportEvents } from './transport.ts'

/** Speaks the older HTTP+SSE with a server: one stream for all that it says, and a place to post to that it names first. */
export function connectSse(options: ServerAddress, events: TransportEvents): NestedTransport {
  return new SseTransport(options, events)
}

class SseTransport implements NestedTransport {
  readonly #options: ServerAddress
  readonly #events: TransportEvents
  readonly #client = new HttpClient()
  readonly #over = new AbortController()
  #endpoint: URL | undefined
  #waiting: NestedMessage[] = []
  #tail: Promise<void> = Promise.resolve()
  #flow: { pause(): void; resume(): void } | undefined

  constructor(options: ServerAddress, events: TransportEvents) {
    this.#options = options
    this.#events = events
    void this.#listen().catch(error => this.#finish({ reason: toWorkspaceError(error).message }))
  }

  send(message: NestedMessage): void {
    if (this.#endpoint === undefined) this.#waiting.push(message)
    else this.#tail = this.#tail.then(() => this.#post(message))
  }

  pause(): void {
    this.#flow?.pause()
  }

  resume(): void {
    this.#flow?.resume()
  }

  async close(): Promise<void> {
    this.#finish({ reason: 'it was closed' })
  }

  async #listen(): Promise<void> {
    const headers = { ...this.#options.headers, accept: 'text/event-stream' }
    const stream = await this.#client.request(this.#options.url, { method: 'GET', headers, signal: this.#over.signal })
    const status = stream.statusCode ?? 0
    if (status !== 200) {
      const wrongKind = status >= 400 && status < 500 && status !== 401 && status !== 403
      return this.#finish({ reason: await failureOf(stream), wrongKind })
    }
    if (!(stream.headers['content-type'] ?? '').startsWith('text/event-stream')) {
      stream.destroy()
      return this.#finish({ reason: 'it gives no stream of events', wrongKind: true })
    }
    this.#flow = stream
    const error = await readEvents(
      stream,
      { lastId: undefined, retryMs: undefined },
      {
        event: event => this.#event(event),
        overlong: (bytes, message) => this.#events.refused(bytes, message),
      },
    )
    this.#finish({ reason: `its stream ended${error === undefined ? '' : ` (${error.message})`}` })
  }

  #event({ event, data }: StreamEvent): void {
    if (event === 'endpoint') this.#opened(data)
    else for (const message of readMessages(data)) this.#events.message(message)
  }

  #opened(data: string) {
    const endpoint = resolveUrl(data.trim(), this.#options.url)
    // Credentials go where the operator sent them, and nowhere else.
    if (endpoint?.origin !== this.#options.url.origin)
      return this.#finish({ reason: `it wants its messages elsewhere, at ${JSON.stringify(data.slice(0, 200))}` })
    this.#endpoint = endpoint
    for (const message of this.#waiting.splice(0)) this.send(message)
  }

  async #post(message: NestedMessage): Promise<void> {
    if (this.#endpoint === undefined || this.#over.signal.aborted) return
    const headers = { ...this.#options.headers, 'content-type': 'application/json' }
    let reason: string | undefined
    try {
      const options = { method: 'POST' as const, headers, body: JSON.stringify(message), signal: this.#over.signal }
      const answer = await this.#client.request(this.#endpoint, options)
      if ((answer.statusCode ?? 0) < 300) answer.resume()
      else reason = await failureOf(answer)
    } catch (error) {
      reason = toWorkspaceError(error).message
    }
    if (reason === undefined || this.#over.signal.aborted) return
    if (!isRequest(message)) this.#events.noise(`[sse] ${reason}\n`)
    else this.#events.message({ jsonrpc: '2.0', id: message.id, error: { code: -32000, message: reason } })
  }

  #finish(end: TransportEnd): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    this.#client.close()
    this.#events.closed(end)
  }
}

function resolveUrl(text: string, base: URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
