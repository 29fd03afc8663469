import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Method, OpenParams, OpenResult, Params, Result } from '../gateway/protocol.ts'
import { Channel, DEFAULT_WINDOW } from '../gateway/wire-channel.ts'
import type { Welcome } from '../gateway/wire-frame.ts'
import { DEFAULT_HEARTBEAT, type HeartbeatOptions } from '../gateway/wire-heartbeat.ts'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { Calls } from './calls.ts'
import type { Dial } from './dial.ts'
import type { CallOptions, GatewayClient, LinkEvents, LinkState } from './gateway-client.ts'
import { News } from './news.ts'
import { Outage } from './outage.ts'
import { checkResult } from './result-shape.ts'
import { retireGateway } from './retire.ts'
import { Session, type SessionEnd } from './session.ts'

export interface LinkClientOptions {
  dial: Dial
  open: OpenParams
  reconnectMs: number
  logger: Logger
  events?: LinkEvents | undefined
  /** Version of our gateway program, where an unused daemon of another build may be replaced. */
  build?: string | undefined
  windowBytes?: number | undefined
  heartbeat?: HeartbeatOptions | undefined
}

const GOODBYE_MS = 500
const DIAL_LIMIT_MS = 120_000
/** A stream that was open for this long counts as a link that worked. */
const STEADY_MS = 1000
const LEAST_WELCOME_MS = 1000

/** The client of one gateway: keeps a link alive over as many streams as it takes, and makes calls on it. */
export class LinkClient implements GatewayClient {
  readonly #options: LinkClientOptions
  readonly #news: News
  readonly #calls: Calls
  readonly #over = new AbortController()
  readonly #outage: Outage
  #state: LinkState = 'connecting'
  #link = ''
  #epoch = 0
  #channel!: Channel
  #opened!: Promise<OpenResult>
  #welcomed = false
  #instance: string | undefined
  #session: Session | undefined
  #build: string | undefined
  #clean = true
  #failure: WorkspaceError | undefined
  #closing: Promise<number> | undefined

  constructor(options: LinkClientOptions) {
    this.#options = options
    this.#build = options.build
    this.#news = new News(options.events ?? {}, options.logger)
    this.#calls = new Calls((method, params) => this.#news.notification(method, params))
    this.#outage = new Outage(options.reconnectMs)
    this.#renew()
    void this.#run()
  }

  get state(): LinkState {
    return this.#state
  }

  async opened(): Promise<OpenResult> {
    let seen: Promise<OpenResult> | undefined
    for (;;) {
      seen = this.#opened
      try {
        return await seen
      } catch (error) {
        if (seen === this.#opened) throw error
      }
    }
  }

  async call<M extends Method>(method: M, params: Params<M>, options: CallOptions = {}): Promise<Result<M>> {
    if (this.#state === 'closed') throw this.#failure ?? new WorkspaceError('unavailable', `"${method}": the link is closed`)
    const channel = this.#welcomed && this.#state !== 'open' ? undefined : this.#channel
    return checkResult(method, await this.#calls.make(method, params, { ...options, channel }))
  }

  close(mode: 'end' | 'detach'): Promise<number> {
    this.#closing ??= this.#close(mode)
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close('end')
  }

  async #close(mode: 'end' | 'detach'): Promise<number> {
    if (this.#state === 'closed') return 0
    this.#over.abort()
    const session = this.#session
    this.#finish(new WorkspaceError('cancelled', 'The link was closed'))
    if (session === undefined) return 0
    session.bye(mode)
    const limit = new AbortController()
    const end = await Promise.race([session.ended, sleep(GOODBYE_MS, undefined, { signal: limit.signal }).catch(() => undefined)])
    limit.abort()
    session.close()
    return end?.kind === 'bye' ? end.others : 0
  }

  /** A new link, with nothing of the old one but the calls that were never sent. */
  #renew(): void {
    this.#channel?.detach()
    this.#link = randomUUID()
    this.#epoch = 0
    this.#welcomed = false
    const sink = {
      message: (message: Record<string, unknown>) => this.#calls.message(message),
      chunk: (id: number, bytes: Buffer) => this.#calls.chunk(id, bytes),
    }
    this.#channel = new Channel(sink, this.#options.windowBytes)
    this.#opened = this.#calls
      .make('open', this.#options.open, { channel: this.#channel })
      .then(result => checkResult('open', result))
    this.#opened.catch(() => {})
    this.#calls.sendWaiting(this.#channel)
  }

  async #run(): Promise<void> {
    const signal = this.#over.signal
    while (!signal.aborted) {
      const failure = await this.#attempt().catch(toWorkspaceError)
      if (signal.aborted) return
      if (failure !== undefined && !isPassing(failure)) return this.#finish(failure)
      if (this.#outage.over) return this.#finish(this.#unreachable(failure))
      await sleep(this.#outage.pause(), undefined, { signal }).catch(() => {})
    }
  }

  /** One attach, from the dial to the end of its stream. */
  async #attempt(): Promise<WorkspaceError | undefined> {
    const { dial, heartbeat = DEFAULT_HEARTBEAT, windowBytes = DEFAULT_WINDOW, logger } = this.#options
    const dialled = await dial(AbortSignal.any([this.#over.signal, AbortSignal.timeout(DIAL_LIMIT_MS)]))
    if (this.#over.signal.aborted) {
      dialled.stream.destroy()
      return undefined
    }
    const session = new Session(
      { stream: dialled.stream, clean: dialled.clean && this.#clean },
      {
        ...{ channel: this.#channel, link: this.#link, epoch: ++this.#epoch, tag: randomUUID(), resume: this.#welcomed },
        ...{
          build: this.#build,
          window: windowBytes,
          heartbeat,
          welcomeMs: Math.min(heartbeat.deadMs, this.#outage.left(LEAST_WELCOME_MS)),
        },
        welcomed: (welcome: Welcome) => this.#onWelcome(welcome),
      },
    )
    this.#session = session
    const { progress } = this.#channel
    const start = performance.now()
    const end = await session.ended
    this.#session = undefined
    // A gateway that welcomes and hangs up, time and again, is none.
    const used = this.#channel.progress > progress || performance.now() - start > STEADY_MS
    if (end.kind === 'lost' && end.welcomed && used) this.#outage.reset()
    if (this.#over.signal.aborted) return undefined
    logger.debug({ end: end.kind }, 'gateway stream ended')
    return this.#onEnd(end)
  }

  async #onEnd(end: SessionEnd): Promise<WorkspaceError | undefined> {
    if (this.#state === 'open') this.#setState('reconnecting')
    if (end.kind === 'bye') return undefined
    if (end.kind === 'lost') {
      if (end.welcomed && !end.binary) this.#clean = false
      return end.error?.code === 'protocol' ? new WorkspaceError('unavailable', end.error.message) : end.error
    }
    if (end.code === 'unknown_link' && this.#welcomed) this.#renew()
    else if (end.code === 'outdated') this.#build = undefined
    else if (end.code === 'failed')
      return new WorkspaceError('precondition_failed', end.message, { hint: 'Correct what it says, then try again.' })
    else if (end.code === 'version') return this.#replaceDaemon(end.message)
    return new WorkspaceError('unavailable', end.message)
  }

  async #replaceDaemon(reason: string): Promise<WorkspaceError | undefined> {
    if (await retireGateway(await this.#options.dial(this.#over.signal))) return undefined
    const hint = 'End its jobs and the hosts that use it, or use the version of Atelier that started it.'
    return new WorkspaceError('unsupported', `${reason}, and it is in use`, { hint })
  }

  #onWelcome({ instance }: Welcome): void {
    const before = this.#instance
    const renewed = !this.#welcomed
    this.#instance = instance
    this.#welcomed = true
    this.#setState('open')
    if (before === undefined) this.#news.reached(instance)
    else {
      const what = before === instance ? 'forgot this link' : 'was replaced'
      this.#calls.fail(new WorkspaceError('environment_lost', `The gateway ${what} while the call was in flight`), this.#channel)
    }
    this.#calls.sendWaiting(this.#channel)
    if (before !== undefined && before !== instance) this.#news.replaced(before, instance)
    else if (before !== undefined && renewed) this.#news.renewed()
  }

  #unreachable(last: WorkspaceError | undefined): WorkspaceError {
    const reason = last?.message ?? 'the stream ended'
    if (this.#instance === undefined) return last ?? new WorkspaceError('unavailable', `The gateway can't be reached: ${reason}`)
    return new WorkspaceError(
      'environment_lost',
      `The gateway was not reached again in ${this.#options.reconnectMs} ms: ${reason}`,
      { cause: last },
    )
  }

  #finish(error: WorkspaceError): void {
    this.#failure ??= error
    this.#over.abort()
    this.#setState('closed')
    this.#calls.fail(error)
  }

  #setState(state: LinkState): void {
    if (this.#state === state || this.#state === 'closed') return
    this.#state = state
    this.#news.state(state)
  }
}

/** Whether another attempt may go better. */
function isPassing({ code }: WorkspaceError): boolean {
  return code === 'unavailable' || code === 'timeout' || code === 'internal' || code === 'cancelled'
}
