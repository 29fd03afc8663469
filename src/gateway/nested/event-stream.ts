import type { IncomingMessage } from 'node:http'
import { ByteLines } from './byte-lines.ts'
import { type Overlong, readEnds } from './read-messages.ts'
import { MAX_MESSAGE_BYTES } from './transport.ts'

/** One event of a `text/event-stream`. */
export interface StreamEvent {
  event: string
  data: string
}

export interface EventSink {
  event(event: StreamEvent): void
  /** A line over the bound was dropped. */
  overlong(bytes: number, message: Overlong): void
}

/** Where a stream stands: what to ask for when it has to go on, and after how many ms. */
export interface StreamPosition {
  lastId: string | undefined
  retryMs: number | undefined
}

/** Reads events to the end of the stream, however it ends; gives the error where it was one. `position` is kept up to date. */
export function readEvents(stream: IncomingMessage, position: StreamPosition, sink: EventSink): Promise<Error | undefined> {
  const fields = new EventFields(position, sink)
  const overlong = (head: string, tail: string, bytes: number): void =>
    sink.overlong(bytes, readEnds(head.replace(/^data: ?/, ''), tail))
  const lines = new ByteLines({ line: text => fields.line(text), overlong }, MAX_MESSAGE_BYTES)
  stream.on('data', (chunk: Buffer) => lines.push(chunk))
  return new Promise(resolve => {
    stream.once('end', () => resolve(undefined))
    stream.once('error', resolve)
    stream.once('close', () => resolve(new Error('the stream was cut')))
  })
}

class EventFields {
  readonly #position: StreamPosition
  readonly #sink: EventSink
  #event = ''
  #data: string[] = []
  #first = true

  constructor(position: StreamPosition, sink: EventSink) {
    this.#position = position
    this.#sink = sink
  }

  line(text: string) {
    const line = text.endsWith('\r') ? text.slice(0, -1) : text
    if (line === '') return this.#dispatch()
    const marked = this.#first ? line.replace(/^\uFEFF/, '') : line
    this.#first = false
    const colon = marked.indexOf(':')
    if (colon === 0) return
    const name = colon === -1 ? marked : marked.slice(0, colon)
    const value = colon === -1 ? '' : marked.slice(marked[colon + 1] === ' ' ? colon + 2 : colon + 1)
    this.#field(name, value)
  }

  #field(name: string, value: string): void {
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#event = value
    else if (name === 'id' && !value.includes('\0')) this.#position.lastId = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.#position.retryMs = Number(value)
  }

  #dispatch(): void {
    const [event, data] = [this.#event, this.#data]
    this.#event = ''
    this.#data = []
    if (data.length > 0) this.#sink.event({ event: event || 'message', data: data.join('\n') })
  }
}
