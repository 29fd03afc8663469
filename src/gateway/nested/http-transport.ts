import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { NestedMessage, NestedRequest } from '../protocol-nested.ts'
import { readEvents, type StreamPosition } from './event-stream.ts'
import { failureOf, HttpClient, readBody, type ServerAddress } from './http-request.ts'
import { HttpSession } from './http-session.ts'
import { type Overlong, readMessages } from './read-messages.ts'
import { isRequest } from './request-map.ts'
import { MAX_MESSAGE_BYTES, type NestedTransport, type TransportEnd, type TransportEvents } from './transport.ts'

const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 30_000
/** A stream that broke is asked for again so often without getting anything. */
const RESUMES = 5
const GOODBYE_MS = 2000

/** Speaks Streamable HTTP with a server: a POST a message, answers as JSON or as a stream, and one stream for its news. */
export function connectHttp(options: ServerAddress, events: TransportEvents): NestedTransport {
  return new HttpTransport(options, events)
}

class HttpTransport implements NestedTransport {
  readonly #events: TransportEvents
  readonly #client = new HttpClient()
  readonly #session: HttpSession
  readonly #over = new AbortController()
  readonly #streams = new Set<IncomingMessage>()
  #paused = false
  #listening = false
  /** Messages that expect no answer go one after the other, and requests after those before them. */
  #tail: Promise<void> = Promise.resolve()

  constructor(options: ServerAddress, events: TransportEvents) {
    this.#events = events
    this.#session = new HttpSession(this.#client, options, this.#over.signal)
  }

  send(message: NestedMessage): void {
    if (this.#over.signal.aborted) return
    if (isRequest(message)) void this.#request(message)
    else this.#tail = this.#tail.then(() => this.#notify(message))
  }

  pause(): void {
    this.#paused = true
    for (const stream of this.#streams) stream.pause()
  }

  resume(): void {
    this.#paused = false
    for (const stream of this.#streams) stream.resume()
  }

  async close(): Promise<void> {
    if (this.#over.signal.aborted) return
    await this.#session.end(AbortSignal.timeout(GOODBYE_MS))
    this.#finish({ reason: 'it was closed' })
  }

  async #request(message: NestedRequest): Promise<void> {
    try {
      await this.#tail
      const answer = await this.#session.post(message)
      const fault = await this.#take(answer, message)
      if (fault !== undefined) this.#fail(message, fault)
    } catch (error) {
      const reason = toWorkspaceError(error).message
      if (this.#over.signal.aborted) return
      this.#fail(message, reason)
      if (toWorkspaceError(error).code === 'unavailable') this.#finish({ reason })
    }
  }

  async #notify(message: NestedMessage): Promise<void> {
    try {
      const answer = await this.#session.post(message)
      if ((answer.statusCode ?? 0) >= 400) this.#events.noise(`[http] ${await failureOf(answer)}\n`)
      else answer.resume()
      if ('method' in message && message.method === 'notifications/initialized') void this.#listen()
    } catch (error) {
      if (!this.#over.signal.aborted) this.#events.noise(`[http] ${toWorkspaceError(error).message}\n`)
    }
  }

  /** Reads the answer of a request; gives why there is none. */
  async #take(answer: IncomingMessage, message: NestedRequest): Promise<string | undefined> {
    const status = answer.statusCode ?? 0
    const type = answer.headers['content-type'] ?? ''
    if (status < 200 || status >= 300) return this.#refused(answer, message)
    if (type.startsWith('text/event-stream')) return this.#stream(answer, message)
    if (status === 202) {
      answer.resume()
      return undefined
    }
    const messages = readMessages(await readBody(answer, MAX_MESSAGE_BYTES))
    for (const each of messages) this.#deliver(each, message)
    return messages.length > 0 ? undefined : `it answered without a message (${type || 'no content type'})`
  }

  async #refused(answer: IncomingMessage, message: NestedRequest): Promise<string | undefined> {
    const [status, isJson] = [answer.statusCode ?? 0, /json/.test(answer.headers['content-type'] ?? '')]
    const text = isJson ? await readBody(answer, MAX_MESSAGE_BYTES) : ''
    const [error] = readMessages(text)
    if (error !== undefined && 'error' in error && message.method !== 'initialize') {
      this.#deliver({ ...error, id: message.id }, message)
      return undefined
    }
    const reason = isJson ? `it answered HTTP ${status}: ${text.slice(0, 300)}` : await failureOf(answer)
    if (message.method !== 'initialize') return reason
    this.#finish({ reason, wrongKind: status >= 400 && status < 500 && status !== 401 && status !== 403 })
    return undefined
  }

  /** Reads a stream until the answer came, asking for the rest where it breaks. */
  async #stream(first: IncomingMessage, message: NestedRequest): Promise<string | undefined> {
    const position: StreamPosition = { lastId: undefined, retryMs: undefined }
    let stream: IncomingMessage | undefined = first
    let answered = false
    for (let tries = 0; tries < RESUMES; ) {
      const before = position.lastId
      if (stream !== undefined)
        await this.#read(stream, position, {
          message: each => {
            answered ||= !('method' in each) && each.id === message.id
            this.#deliver(each, message)
          },
          overlong: ({ kind }) => (answered ||= kind === 'answer'),
        })
      if (answered || this.#over.signal.aborted) return undefined
      if (position.lastId === undefined) return 'the stream of its answer broke off'
      tries = position.lastId === before ? tries + 1 : 0
      await this.#wait(position.retryMs ?? FIRST_RETRY_MS * 2 ** tries)
      stream = await this.#resume(position.lastId)
    }
    return 'the stream of its answer broke off and was not given again'
  }

  async #resume(lastId: string): Promise<IncomingMessage | undefined> {
    try {
      const stream = await this.#session.get(lastId)
      if (stream.statusCode === 200) return stream
      stream.resume()
    } catch (error) {
      if (!this.#over.signal.aborted) this.#events.noise(`[http] ${toWorkspaceError(error).message}\n`)
    }
    return undefined
  }

  /** The stream of news that belong to no request, for as long as the server gives one. */
  async #listen(): Promise<void> {
    if (this.#listening) return
    this.#listening = true
    const position: StreamPosition = { lastId: undefined, retryMs: undefined }
    for (let pause = FIRST_RETRY_MS; !this.#over.signal.aborted; pause = Math.min(pause * 2, LONGEST_RETRY_MS)) {
      const stream = await this.#session.get(position.lastId).catch(() => undefined)
      // A server that gives no such stream says 405; other refusals are no better.
      if (stream !== undefined && (stream.statusCode !== 200 || !isEvents(stream))) {
        stream.resume()
        if (stream.statusCode !== 404 || !this.#session.named) return
      } else if (stream !== undefined) {
        await this.#read(stream, position, { message: message => this.#deliver(message), began: () => (pause = FIRST_RETRY_MS) })
      }
      await this.#wait(position.retryMs ?? pause)
    }
  }

  async #read(
    stream: IncomingMessage,
    position: StreamPosition,
    sink: { message(message: NestedMessage): void; overlong?(message: Overlong): void; began?(): void },
  ): Promise<void> {
    this.#streams.add(stream)
    if (this.#paused) stream.pause()
    const error = await readEvents(stream, position, {
      event: ({ data }) => {
        sink.began?.()
        for (const message of readMessages(data)) sink.message(message)
      },
      overlong: (bytes, message) => {
        sink.overlong?.(message)
        this.#events.refused(bytes, message)
      },
    })
    this.#streams.delete(stream)
    if (error !== undefined && !this.#over.signal.aborted) this.#events.noise(`[http] ${error.message}\n`)
  }

  #deliver(message: NestedMessage, request?: NestedRequest): void {
    if (this.#over.signal.aborted) return
    if (request?.method === 'initialize' && !('method' in message)) this.#session.initialized(request, message)
    this.#events.message(message, request?.id as number | undefined)
  }

  #fail({ id, method }: NestedRequest, reason: string) {
    if (method === 'initialize') return this.#finish({ reason })
    this.#events.message({ jsonrpc: '2.0', id, error: { code: -32000, message: reason } })
  }

  #finish(end: TransportEnd): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    this.#client.close()
    this.#events.closed(end)
  }

  #wait(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#over.signal, ref: false }).catch(() => {})
  }
}

function isEvents({ headers }: IncomingMessage): boolean {
  return (headers['content-type'] ?? '').startsWith('text/event-stream')
}
