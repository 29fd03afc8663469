import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** What the next requests that match shall meet. Several of the parts may be set; all times are ms. */
export interface FaultRule {
  /** Regular expression on `METHOD /path?query`; absent: every request but those to `/__faults`. */
  match?: string
  /** How many requests; default 1. */
  times?: number
  /** The answer is held back for so long. */
  latencyMs?: number
  /** This status in place of an answer; the request has no effect. */
  status?: number
  /** Text of the error. */
  message?: string
  /** Seconds, as a header of the answer. */
  retryAfter?: number
  /** The connection is reset before any effect. */
  reset?: boolean
  /** The request has its effect, and its connection is reset in place of the answer. */
  loseAnswer?: boolean
  /** The connection is reset once so many bytes of the answer are out. */
  resetAfterBytes?: number
  /** The connection is reset so long after its begin. */
  resetAfterMs?: number
  /** From then on nothing more is sent, and the connection stays open. */
  muteAfterMs?: number
}

/** Whole behaviours that stay until they are changed. */
export interface FaultModes {
  /** A change is seen in lists only so much later, in ms. */
  listLagMs?: number
  /** Each creation makes two. */
  duplicateCreate?: boolean
}

/** An error answer in the service's own form. */
export type ErrorAnswer = (status: number, message: string) => object

interface Live extends FaultRule {
  left: number
}

/** Misbehaviour on demand. The service calls `meet` before it answers; a test sets rules over `/__faults` or here. */
export class Faults {
  #rules: Live[] = []
  modes: FaultModes = {}
  readonly #errorAnswer: ErrorAnswer

  constructor(errorAnswer: ErrorAnswer = (code, message) => ({ code, message })) {
    this.#errorAnswer = errorAnswer
  }

  add(rule: FaultRule): void {
    this.#rules.push({ ...rule, left: rule.times ?? 1 })
  }

  clear(): void {
    this.#rules = []
    this.modes = {}
  }

  list(): readonly FaultRule[] {
    return this.#rules
  }

  /** The rule that this request meets, used up by one. */
  take(request: IncomingMessage): FaultRule | undefined {
    const line = `${request.method} ${request.url}`
    const rule = this.#rules.find(({ match }) => match === undefined || new RegExp(match).test(line))
    if (rule === undefined) return undefined
    rule.left -= 1
    if (rule.left <= 0) this.#rules = this.#rules.filter(each => each !== rule)
    return rule
  }

  /** Misbehaves as asked; whether the service is to go on with the request. */
  async meet(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const rule = this.take(request)
    if (rule === undefined) return true
    if (rule.latencyMs !== undefined) await new Promise(resolve => setTimeout(resolve, rule.latencyMs))
    if (rule.reset) {
      request.socket.resetAndDestroy()
      return false
    }
    if (rule.status !== undefined) {
      const retry = rule.retryAfter === undefined ? {} : { 'retry-after': String(rule.retryAfter) }
      response.writeHead(rule.status, { 'content-type': 'application/json', ...retry })
      response.end(JSON.stringify(this.#errorAnswer(rule.status, rule.message ?? `fault ${rule.status}`)))
      return false
    }
    spoil(response, rule)
    return true
  }

  /** The same for a connection that becomes a websocket: reset and silence in its midst. */
  async meetUpgrade(request: IncomingMessage, socket: Duplex): Promise<boolean> {
    const rule = this.take(request)
    if (rule === undefined) return true
    if (rule.latencyMs !== undefined) await new Promise(resolve => setTimeout(resolve, rule.latencyMs))
    if (rule.reset || rule.status !== undefined) {
      if (rule.status === undefined) request.socket.resetAndDestroy()
      else socket.end(`HTTP/1.1 ${rule.status} Fault\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      return false
    }
    if (rule.resetAfterMs !== undefined) later(rule.resetAfterMs, () => request.socket.resetAndDestroy())
    if (rule.muteAfterMs !== undefined) later(rule.muteAfterMs, () => mute(socket))
    if (rule.resetAfterBytes !== undefined)
      limitBytes(request.socket, rule.resetAfterBytes, () => request.socket.resetAndDestroy())
    return true
  }
}

function later(ms: number, run: () => void): void {
  setTimeout(run, ms).unref()
}

type Writing = Pick<Duplex, 'write' | 'end'>

/** Nothing that is written from now on leaves; the writer does not notice. */
function mute(stream: Writing): void {
  stream.write = (() => true) as Duplex['write']
  stream.end = (() => stream) as Duplex['end']
}

/** Lets so many bytes out, then calls `over`. */
function limitBytes(stream: Writing, bytes: number, over: () => void): void {
  const write = stream.write.bind(stream) as (chunk: Uint8Array | string, ...rest: unknown[]) => boolean
  let left = bytes
  stream.write = ((chunk: Uint8Array | string, ...rest: unknown[]) => {
    const part = Buffer.from(chunk as string)
    if (part.length <= left) {
      left -= part.length
      return write(chunk, ...rest)
    }
    write(part.subarray(0, left))
    left = 0
    setImmediate(over)
    return true
  }) as Duplex['write']
}

function spoil(response: ServerResponse, rule: FaultRule): void {
  const reset = (): void => void response.socket?.resetAndDestroy()
  if (rule.loseAnswer) {
    response.write = (() => true) as ServerResponse['write']
    response.writeHead = (() => response) as ServerResponse['writeHead']
    response.end = (() => {
      reset()
      return response
    }) as ServerResponse['end']
  }
  if (rule.resetAfterMs !== undefined) later(rule.resetAfterMs, reset)
  if (rule.muteAfterMs !== undefined) later(rule.muteAfterMs, () => mute(response as unknown as Writing))
  if (rule.resetAfterBytes !== undefined) limitBytes(response as unknown as Writing, rule.resetAfterBytes, reset)
}
