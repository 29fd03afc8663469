import { WorkspaceError } from '../lib/errors.ts'

/** Who wrote a frame: `h` the host, `g` the gateway. A terminal that echoes gives a side its own frames back. */
export type Side = 'h' | 'g'

/** Largest chunk of a stream under one number: what a pipe takes at once. */
export const MAX_CHUNK_BYTES = 64 * 1024
/** Largest part of one in base64, so that it fits a line. */
export const MAX_TEXT_BYTES = 24_000
/** Room that a message frame needs beside its payload. */
export const FRAME_OVERHEAD = 256
/** Largest message that is put together from pieces, in UTF-16 units of its JSON text. */
export const MAX_MESSAGE_UNITS = 64 * 1024 * 1024
/** Most pieces of one message: none but the last is that small. */
export const MAX_PIECES = MAX_MESSAGE_UNITS / 4096

export interface Hello {
  k: 'hello'
  protocol: number
  oldest: number
  /** The host's id for this link; the same in each attach that resumes it. */
  link: string
  /** Counts the attaches of this link, so that a late one can't displace a newer one. */
  epoch: number
  /** Whether this link was welcomed before: a gateway that does not know it must then refuse. */
  resume: boolean
  /** Last message that the host received on this link. */
  received: number
  /** How much the gateway may leave unacknowledged, in bytes. */
  window: number
  /** The dialer believes the stream to be 8-bit clean; a probe follows. */
  binary: boolean
  /** Version of the host's own gateway program. */
  build?: string
}
export interface Welcome {
  k: 'welcome'
  protocol: number
  instance: string
  received: number
}
export interface Refuse {
  k: 'refuse'
  code: RefuseCode
  message: string
}
export type RefuseCode = 'version' | 'outdated' | 'unknown_link' | 'stale' | 'busy' | 'failed' | 'unavailable'
export interface Bye {
  k: 'bye'
  mode: 'end' | 'detach'
  /** Other hosts that are there; from the gateway alone. */
  others?: number
}
/** One message, or a piece of one, or a chunk of a stream. */
export interface MessageFrame {
  k: 'm'
  s: number
  a: number
  m?: object
  p?: string
  /** More follows: of the message under the next number, of a chunk in base64 under the same one. */
  more?: boolean
  /** Id of the call that a chunk belongs to. */
  i?: number
  c?: string
  /** Raw bytes that follow the line. */
  b?: number
}
export interface AckFrame {
  k: 'a'
  a: number
}
export interface ProbeFrame {
  k: 'probe'
  b: number
}
export interface PlainFrame {
  k: 'ping' | 'pong' | 'binary' | 'retire'
}
export type Frame = Hello | Welcome | Refuse | Bye | MessageFrame | AckFrame | ProbeFrame | PlainFrame

/** A line that has the outline of a frame; its fields are unchecked. */
export interface RawFrame {
  d: Side
  t: string
  k: string
  [field: string]: unknown
}

/** The line as a frame in outline, or `undefined` for anything else (a prompt, a banner, a broken echo). */
export function parseLine(text: string): RawFrame | undefined {
  const start = text.indexOf('{"d":"')
  if (start < 0) return undefined
  try {
    const value = JSON.parse(text.slice(start)) as RawFrame
    if ((value.d === 'h' || value.d === 'g') && typeof value.t === 'string' && typeof value.k === 'string') return value
  } catch {
    return undefined
  }
  return undefined
}

type Check = (value: unknown) => boolean
const count: Check = value => Number.isSafeInteger(value) && (value as number) >= 0
const text: Check = value => typeof value === 'string'
const short: Check = value => typeof value === 'string' && value.length > 0 && value.length <= 200
const flag: Check = value => typeof value === 'boolean'
const object: Check = value => typeof value === 'object' && value !== null && !Array.isArray(value)
const optional =
  (check: Check): Check =>
  value =>
    value === undefined || check(value)
const body: Check = value => count(value) && (value as number) > 0 && (value as number) <= MAX_CHUNK_BYTES

const SHAPES: Record<Frame['k'], Record<string, Check>> = {
  hello: {
    protocol: count,
    oldest: count,
    link: short,
    epoch: count,
    resume: flag,
    received: count,
    window: count,
    binary: flag,
    build: optional(short),
  },
  welcome: { protocol: count, instance: short, received: count },
  refuse: { code: short, message: text },
  bye: { mode: value => value === 'end' || value === 'detach', others: optional(count) },
  m: {
    s: count,
    a: count,
    m: optional(object),
    p: optional(text),
    more: optional(flag),
    i: optional(count),
    c: optional(text),
    b: optional(body),
  },
  a: { a: count },
  probe: { b: body },
  ping: {},
  pong: {},
  binary: {},
  retire: {},
}

/** The frame with every field checked; throws `protocol` for one that is malformed. */
export function checkFrame(raw: RawFrame): Frame {
  const shape = Object.hasOwn(SHAPES, raw.k) ? SHAPES[raw.k as Frame['k']] : undefined
  if (shape === undefined)
    throw new WorkspaceError('protocol', `The link carried a frame of unknown kind "${raw.k.slice(0, 40)}"`)
  for (const [field, check] of Object.entries(shape)) {
    if (!check(raw[field]))
      throw new WorkspaceError('protocol', `The link carried a "${raw.k}" frame with a bad field "${field}"`)
  }
  return raw as unknown as Frame
}
