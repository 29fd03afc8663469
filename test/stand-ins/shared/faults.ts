import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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
  /** The connection is reset once nothing went over it, either way, for so long. */
  idleCutMs?: number
  /** The connection is reset, or nothing more is sent on it, when `strike` is called. */
  onStrike?: 'reset' | 'mute'
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
  /** How many connections were cut or silenced in their midst so far. */
  struck = 0
  #waiting = new Set<() => void>()
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

  /** Strikes the connections whose rule waits for it. */
  strike(): void {
    for (const each of this.#waiting) each()
    this.#waiting.clear()
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
      reset(request.socket)
      return false
    }
    if (rule.status !== undefined) {
      const retry = rule.retryAfter === undefined ? {} : { 'retry-after': String(rule.retryAfter) }
      response.writeHead(rule.status, { 'content-type': 'application/json', ...retry })
      response.end(JSON.stringify(this.#errorAnswer(rule.status, rule.message ?? `fault ${rule.status}`)))
      return false
    }
    this.#spoil(() => response.socket, response as unknown as Writing, rule)
    if (rule.loseAnswer) loseAnswer(response)
    return true
  }

  /** The same for a connection that becomes a websocket: reset and silence in its midst. */
  async meetUpgrade(request: IncomingMessage, socket: Duplex): Promise<boolean> {
    const rule = this.take(request)
    if (rule === undefined) return true
    if (rule.latencyMs !== undefined) await new Promise(resolve => setTimeout(resolve, rule.latencyMs))
    if (rule.reset || rule.status !== undefined) {
      if (rule.status === undefined) reset(request.socket)
      else socket.end(`HTTP/1.1 ${rule.status} Fault\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      return false
    }
    this.#spoil(() => request.socket, socket, rule)
    return true
  }

  /** What happens in the midst of a connection, whose `output` the service writes to; one that is over has no socket any more. */
  #spoil(socketOf: () => Socket | null, output: Writing, rule: FaultRule): void {
    const { resetAfterMs, resetAfterBytes, muteAfterMs, idleCutMs, onStrike } = rule
    const strike = (how: (socket: Socket) => void): void => {
      const socket = socketOf()
      if (socket === null || socket.destroyed) return
      this.struck += 1
      how(socket)
    }
    const cut = (): void => strike(reset)
    if (resetAfterMs !== undefined) later(resetAfterMs, cut)
    if (resetAfterBytes !== undefined) limitBytes(output, resetAfterBytes, cut)
    const silence = (): void => strike(() => mute(output))
    if (muteAfterMs !== undefined) later(muteAfterMs, silence)
    if (onStrike !== undefined) this.#waiting.add(onStrike === 'reset' ? cut : silence)
    if (idleCutMs !== undefined) whenIdle(socketOf, idleCutMs, cut)
  }
}

/** As the network does it; a unix socket has no such thing. */
function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}

function whenIdle(socketOf: () => Socket | null, ms: number, run: () => void): void {
  let [seen, since] = [-1, Date.now()]
  const timer = setInterval(() => {
    const socket = socketOf()
    if (socket === null || socket.destroyed) return clearInterval(timer)
    const now = socket.bytesRead + socket.bytesWritten
    if (now !== seen) [seen, since] = [now, Date.now()]
    else if (Date.now() - since >= ms) run()
  }, ms / 4).unref()
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

function loseAnswer(response: ServerResponse): void {
  response.write = (() => true) as ServerResponse['write']
  response.writeHead = (() => response) as ServerResponse['writeHead']
  response.end = (() => {
    if (response.socket !== null) reset(response.socket)
    return response
  }) as ServerResponse['end']
}
