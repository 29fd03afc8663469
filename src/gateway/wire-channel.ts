import { WorkspaceError } from '../lib/errors.ts'
import { type AckFrame, MAX_CHUNK_BYTES, MAX_MESSAGE_UNITS, MAX_PIECES, MAX_TEXT_BYTES, type MessageFrame } from './wire-frame.ts'
import { messagePayloads, type Numbered, Outbox } from './wire-outbox.ts'

/** Bytes that may be unacknowledged each way unless a backend sets otherwise. */
export const DEFAULT_WINDOW = 256 * 1024
const SMALLEST_WINDOW = 64 * 1024
/** A peer that asks for more gets this. */
const LARGEST_WINDOW = 16 * 1024 * 1024
/** An acknowledgement waits this long for a message to ride on. */
const ACK_DELAY_MS = 25

/** The stream that a channel currently writes to. */
export interface Port {
  /** Whether raw bodies may be sent. */
  readonly binary: boolean
  write(kind: string, fields: string, body?: Buffer): void
}

export interface ChannelSink {
  message(message: Record<string, unknown>): void
  chunk(call: number, bytes: Buffer): void
}

/**
 * The reliable part of a link: messages and chunks arrive once and in the order of sending (within a lane), whatever happens
 * to the streams below. It outlives them: `attach` gives it the next one, and what the peer had not received is sent again.
 */
export class Channel {
  readonly #outbox: Outbox
  readonly #sink: ChannelSink
  #port: Port | undefined
  #received = 0
  #owedBytes = 0
  #ackTimer: NodeJS.Timeout | undefined
  #pieces: string[] = []
  #pieceUnits = 0
  /** The first parts of a chunk that comes as text. */
  #parts: Buffer[] = []

  constructor(sink: ChannelSink, window = DEFAULT_WINDOW) {
    this.#sink = sink
    this.#outbox = new Outbox(bounded(window))
  }

  /** Number of the last message received: what a handshake tells the peer. */
  get received(): number {
    return this.#received
  }

  /** Grows with each message that came, and each that the peer said it has. */
  get progress(): number {
    return this.#received + this.#outbox.acknowledged
  }

  /** Bytes that wait or are unacknowledged. */
  get backlog(): number {
    return this.#outbox.backlog
  }

  /** Bytes that were sent and may have to be sent again. */
  get unacknowledgedBytes(): number {
    return this.#outbox.unacknowledgedBytes
  }

  set window(bytes: number) {
    this.#outbox.window = bounded(bytes)
  }

  /** Sends one message and says by which lane it went; what must come after it has to use the same. Throws `too_large`. */
  send(message: object, lane: 'control' | 'bulk' = 'control'): 'control' | 'bulk' {
    const payloads = messagePayloads(message)
    const used = payloads.length > 1 ? 'bulk' : lane
    for (const payload of payloads) this.#outbox.add(payload, used)
    this.#pump()
    return used
  }

  /** Sends a chunk of a call's stream; the bytes are copied. */
  sendChunk(call: number, bytes: Uint8Array): void {
    const size = this.#port?.binary === true ? MAX_CHUNK_BYTES : MAX_TEXT_BYTES
    for (let at = 0; at < bytes.length; at += size) {
      this.#outbox.add({ call, data: Buffer.from(bytes.subarray(at, at + size)) }, 'bulk')
    }
    this.#pump()
  }

  /** Goes on over `port`. `peerReceived` is what the peer's handshake said; absent where it is not known yet (first attach). */
  attach(port: Port, peerReceived?: number): void {
    if (peerReceived !== undefined) this.#outbox.acknowledge(peerReceived)
    this.#port = port
    for (const item of this.#outbox.unacknowledged) this.#write(port, item)
    this.#pump()
  }

  /** The stream is gone; what was sent over it is kept. */
  detach(): void {
    this.#port = undefined
    this.#parts = []
    clearTimeout(this.#ackTimer)
    this.#ackTimer = undefined
  }

  /** The handshake's acknowledgement, where `attach` came before it. */
  acknowledge(received: number): void {
    this.#outbox.acknowledge(received)
    this.#pump()
  }

  /** Takes a frame of the current stream; throws `protocol` for one that can't be right, which must end that stream. */
  receive(frame: MessageFrame | AckFrame, size: number, body?: Buffer) {
    this.#outbox.acknowledge(frame.a)
    if (frame.k === 'm') {
      if (frame.s > this.#received + 1) {
        throw new WorkspaceError('protocol', `The link lost frames ${this.#received + 1} to ${frame.s - 1}`)
      }
      this.#owe(size)
      if (frame.s === this.#received + 1 && !this.#awaitsParts(frame)) {
        this.#received = frame.s
        this.#deliver(frame, body)
      }
    }
    this.#pump()
  }

  /** Keeps a part of a chunk that more parts of follow. */
  #awaitsParts({ i, c = '', more }: MessageFrame): boolean {
    if (i === undefined || more !== true) return false
    this.#parts.push(Buffer.from(c, 'base64'))
    if (this.#parts.length > MAX_CHUNK_BYTES / MAX_TEXT_BYTES)
      throw new WorkspaceError('protocol', 'The link carried a chunk of too many parts')
    return true
  }

  #takeChunk({ c = '' }: MessageFrame): Buffer {
    const last = Buffer.from(c, 'base64')
    const parts = this.#parts.splice(0)
    return parts.length === 0 ? last : Buffer.concat([...parts, last])
  }

  #deliver(frame: MessageFrame, body: Buffer | undefined) {
    if (frame.i !== undefined) {
      const bytes = body ?? this.#takeChunk(frame)
      if (bytes.length === 0 || bytes.length > MAX_CHUNK_BYTES)
        throw new WorkspaceError('protocol', `The link carried a chunk of ${bytes.length} bytes`)
      return this.#sink.chunk(frame.i, bytes)
    }
    if (frame.m !== undefined) return this.#sink.message(frame.m as Record<string, unknown>)
    if (frame.p === undefined) throw new WorkspaceError('protocol', 'The link carried an empty message')
    this.#pieces.push(frame.p)
    this.#pieceUnits += frame.p.length
    if (this.#pieceUnits > MAX_MESSAGE_UNITS || this.#pieces.length > MAX_PIECES)
      throw new WorkspaceError('protocol', 'The link carried a message that is too large')
    if (frame.more !== true) this.#deliverPieces()
  }

  #deliverPieces(): void {
    const text = this.#pieces.join('')
    this.#pieces = []
    this.#pieceUnits = 0
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch (cause) {
      throw new WorkspaceError('protocol', 'The link carried a message that is no JSON', { cause })
    }
    if (typeof message !== 'object' || message === null)
      throw new WorkspaceError('protocol', 'The link carried a message that is no object')
    this.#sink.message(message as Record<string, unknown>)
  }

  #pump(): void {
    const port = this.#port
    if (port === undefined) return
    for (let item = this.#outbox.next(); item !== undefined; item = this.#outbox.next()) this.#write(port, item)
  }

  #write(port: Port, { seq, payload }: Numbered): void {
    const numbers = `"s":${seq},"a":${this.#paid()}`
    if ('fields' in payload) port.write('m', `${numbers},${payload.fields}`)
    else if (port.binary) port.write('m', `${numbers},"i":${payload.call},"b":${payload.data.length}`, payload.data)
    else for (const part of textParts(payload.data)) port.write('m', `${numbers},"i":${payload.call},${part}`)
  }

  #owe(bytes: number): void {
    this.#owedBytes += bytes
    if (this.#owedBytes >= this.#outbox.window / 4) queueMicrotask(() => this.#acknowledgeNow())
    else this.#ackTimer ??= setTimeout(() => this.#acknowledgeNow(), ACK_DELAY_MS).unref()
  }

  #acknowledgeNow(): void {
    if (this.#owedBytes > 0) this.#port?.write('a', `"a":${this.#paid()}`)
  }

  #paid(): number {
    this.#owedBytes = 0
    clearTimeout(this.#ackTimer)
    this.#ackTimer = undefined
    return this.#received
  }
}

/** A chunk as fields of as many lines as it needs in base64. */
function* textParts(data: Buffer): Generator<string> {
  for (let at = 0; at < data.length; at += MAX_TEXT_BYTES) {
    const part = data.subarray(at, at + MAX_TEXT_BYTES).toString('base64')
    yield at + MAX_TEXT_BYTES < data.length ? `"c":"${part}","more":true` : `"c":"${part}"`
  }
}

function bounded(window: number): number {
  return Math.min(Math.max(window, SMALLEST_WINDOW), LARGEST_WINDOW)
}
