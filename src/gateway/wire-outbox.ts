import { WorkspaceError } from '../lib/errors.ts'
import { asciiPieces, MAX_LINE_BYTES, toAscii } from '../lib/frames.ts'
import { FRAME_OVERHEAD, MAX_MESSAGE_UNITS } from './wire-frame.ts'

/** What one numbered frame carries: JSON fields as text, or a chunk of a call's stream. */
export type Payload = { fields: string } | { call: number; data: Buffer }
export interface Numbered {
  seq: number
  bytes: number
  payload: Payload
}

const MAX_PAYLOAD = MAX_LINE_BYTES - FRAME_OVERHEAD

/** A message as the payloads of its frames: one where it fits a line, else pieces. Throws `too_large` beyond the bound. */
export function messagePayloads(message: object): Payload[] {
  const json = JSON.stringify(message)
  if (json.length > MAX_MESSAGE_UNITS)
    throw new WorkspaceError('too_large', `A message of ${json.length} characters exceeds the link's bound`)
  if (json.length <= MAX_PAYLOAD) {
    const ascii = toAscii(json)
    if (ascii.length <= MAX_PAYLOAD) return [{ fields: `"m":${ascii}` }]
  }
  const pieces = asciiPieces(json, MAX_PAYLOAD)
  return pieces.map((piece, index) => ({ fields: `"p":${piece},"more":${index < pieces.length - 1}` }))
}

/**
 * The sending half of a link: what waits, in two lanes, and what was sent and not yet acknowledged. Numbers are given when a
 * frame is first sent, so that control can go ahead of bulk that still waits.
 */
export class Outbox {
  #control: Payload[] = []
  #bulk: Payload[] = []
  #unacknowledged: Numbered[] = []
  #unacknowledgedBytes = 0
  #queuedBytes = 0
  #last = 0
  window: number

  constructor(window: number) {
    this.window = window
  }

  /** Number of the last frame that was ever sent. */
  get last(): number {
    return this.#last
  }

  /** Frames that the peer has. */
  get acknowledged(): number {
    return this.#last - this.#unacknowledged.length
  }

  /** Bytes that wait or are unacknowledged. */
  get backlog(): number {
    return this.#queuedBytes + this.#unacknowledgedBytes
  }

  get unacknowledgedBytes(): number {
    return this.#unacknowledgedBytes
  }

  /** Everything that was sent and not acknowledged, in order. */
  get unacknowledged(): readonly Numbered[] {
    return this.#unacknowledged
  }

  add(payload: Payload, lane: 'control' | 'bulk'): void {
    this.#queuedBytes += sizeOf(payload)
    ;(lane === 'control' ? this.#control : this.#bulk).push(payload)
  }

  /** The next frame that the window has room for; bulk leaves a reserve to control. */
  next(): Numbered | undefined {
    const control = this.#control[0]
    if (control !== undefined) return this.#fits(sizeOf(control), 0) ? this.#number(this.#control) : undefined
    const bulk = this.#bulk[0]
    if (bulk === undefined) return undefined
    return this.#fits(sizeOf(bulk), Math.min(MAX_LINE_BYTES, this.window / 4)) ? this.#number(this.#bulk) : undefined
  }

  /** Drops what the peer has received; throws `protocol` when it claims frames that were never sent. */
  acknowledge(received: number): void {
    if (received > this.#last) throw new WorkspaceError('protocol', `The peer acknowledged frame ${received} of ${this.#last}`)
    let dropped = 0
    for (const item of this.#unacknowledged) {
      if (item.seq > received) break
      this.#unacknowledgedBytes -= item.bytes
      dropped++
    }
    if (dropped > 0) this.#unacknowledged.splice(0, dropped)
  }

  #fits(bytes: number, reserve: number): boolean {
    return this.#unacknowledged.length === 0 || this.#unacknowledgedBytes + bytes <= this.window - reserve
  }

  #number(lane: Payload[]): Numbered {
    const payload = lane.shift() as Payload
    const item = { seq: ++this.#last, bytes: sizeOf(payload), payload }
    this.#queuedBytes -= item.bytes
    this.#unacknowledgedBytes += item.bytes
    this.#unacknowledged.push(item)
    return item
  }
}

function sizeOf(payload: Payload): number {
  return 'fields' in payload ? payload.fields.length : payload.data.length
}
