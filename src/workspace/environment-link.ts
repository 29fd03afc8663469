import type { Backend, Environment, EnvironmentInfo, EnvironmentSpec, EnvironmentUse } from '../backends/backend.ts'
import type { Method, Params, Result } from '../gateway/protocol.ts'
import { after, withSignal } from '../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { CallOptions, GatewayClient, LinkEvents } from '../link/gateway-client.ts'
import { GatewayNews } from './gateway-news.ts'
import { isDead, isLost, isSame, madeAgain, restarted } from './losses.ts'

/** What the parts of a workspace call: one gateway, whichever environment it is in at the moment. */
export interface GatewayCalls {
  call<M extends Method>(method: M, params: Params<M>, options?: CallOptions): Promise<Result<M>>
}

/** How a link dials, and who hears of losses. */
export interface EnvironmentLinkOptions {
  /** Dials the gateway of an environment; returns at once. */
  dial(environment: Environment, events: LinkEvents): GatewayClient
  /** Hears each sentence about what was lost, once. */
  onLost?: ((sentence: string) => void) | undefined
  onProgress?: ((sentence: string) => void) | undefined
  logger: Logger
}

/** An environment in use. */
interface Live {
  environment: Environment
  client: GatewayClient
  /** Of the gateway that welcomed the link; absent: none did. */
  instance: string | undefined
  stopKeepAlive(): void
}

/** So often is a call tried where somebody ends the environment while it is dialled: nothing has been sent to it then. */
const TRIES = 3
/** Between two calls of `Environment.keepAlive`, in ms. */
const KEEP_ALIVE_MS = 60_000

/**
 * One workspace's environment and the client of its gateway. What is lost behind our back fails the calls in flight; the next
 * call provisions again (once, however many wait) and a sentence says what was lost. `retire` hands both over to who ends them.
 */
export class EnvironmentLink implements GatewayCalls {
  readonly news = new GatewayNews()
  readonly #backend: Backend
  readonly #spec: EnvironmentSpec
  readonly #options: EnvironmentLinkOptions
  /** Shared by all calls that wait for an environment. */
  #opening: Promise<Live> | undefined
  #live: Live | undefined
  /** The environment last held; kept after its link was lost, so that it can still be suspended. */
  #environment: Environment | undefined
  #before: { instance: string | undefined; info: EnvironmentInfo } | undefined
  #notices: string[] = []
  #inFlight = 0
  #retired = false

  private constructor(backend: Backend, spec: EnvironmentSpec, options: EnvironmentLinkOptions) {
    this.#backend = backend
    this.#spec = spec
    this.#options = options
  }

  /** Provisions the environment and starts to dial its gateway. */
  static async open(backend: Backend, spec: EnvironmentSpec, options: EnvironmentLinkOptions): Promise<EnvironmentLink> {
    const link = new EnvironmentLink(backend, spec, options)
    await link.#current()
    return link
  }

  /** The environment as it was when it was last provisioned. */
  get info(): EnvironmentInfo {
    if (this.#environment === undefined)
      throw new WorkspaceError('internal', `Workspace ${this.#spec.name} holds no environment.`)
    return this.#environment.info
  }

  /** What the environment uses, where its backend can tell. */
  async usage(): Promise<EnvironmentUse | undefined> {
    return (await this.#current()).environment.usage?.()
  }

  /** Calls in flight, streams included. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Whether its gateway answers at the moment; a call then starts nothing. */
  get connected(): boolean {
    return !this.#retired && this.#live?.client.state === 'open'
  }

  /** Whether there is no environment, nor one being made: a call would make it. */
  get lost(): boolean {
    return this.#opening === undefined && (this.#live === undefined || this.#live.client.state === 'closed')
  }

  /** Sentences about losses since they were last taken. */
  takeNotices(): string[] {
    return this.#notices.splice(0)
  }

  async call<M extends Method>(method: M, params: Params<M>, options: CallOptions = {}): Promise<Result<M>> {
    this.#inFlight += 1
    try {
      for (let tries = 1; ; tries++) {
        const live = await this.#current(options.signal)
        try {
          return await this.#callOn(live, () => live.client.call(method, params, options))
        } catch (error) {
          if (tries >= TRIES || live.instance !== undefined || options.input !== undefined || !isLost(error)) throw error
        }
      }
    } finally {
      this.#inFlight -= 1
    }
  }

  /** Ends the use of this link and hands over what it holds, also what is just being made; `undefined` when it was retired before. */
  async retire(): Promise<{ environment: Environment; client: GatewayClient | undefined } | undefined> {
    if (this.#retired) return undefined
    this.#retired = true
    if (this.#live === undefined) await this.#settled()
    if (this.#environment === undefined) return undefined
    this.#live?.stopKeepAlive()
    const client = this.#live?.client
    this.#live = undefined
    return { environment: this.#environment, client }
  }

  /** Waits for an environment that is being made, so that it is not left behind. */
  async #settled(): Promise<void> {
    try {
      await this.#opening
    } catch (error) {
      this.#options.logger.debug({ reason: toWorkspaceError(error).message }, 'not opened again')
    }
  }

  async #callOn<T>(live: Live, run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (isDead(live.client, error)) this.#drop(live)
      throw error
    }
  }

  #current(signal?: AbortSignal): Promise<Live> {
    if (this.#retired) return Promise.reject(this.#closedError())
    if (this.#live?.client.state === 'closed') this.#drop(this.#live)
    if (this.#live !== undefined) return Promise.resolve(this.#live)
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return withSignal(this.#opening, signal)
  }

  async #open(): Promise<Live> {
    const environment = await this.#backend.provision(this.#spec, { onProgress: this.#options.onProgress })
    await this.#release(this.#environment)
    this.#environment = environment
    if (this.#retired) throw this.#closedError()
    const live = this.#dial(environment)
    this.#live = live
    if (this.#before !== undefined) await this.#callOn(live, () => this.#sayWhatWasLost(live))
    return live
  }

  #dial(environment: Environment): Live {
    const live: Partial<Live> = { environment, stopKeepAlive: this.#keepAlive(environment) }
    const events: LinkEvents = {
      ...this.news.events(),
      reached: instance => {
        live.instance = instance
      },
      replaced: (_was, now) => {
        live.instance = now
        this.news.lost()
        this.#say(restarted(environment.info))
      },
    }
    live.client = this.#options.dial(environment, events)
    live.client.opened().catch(error => {
      this.#options.logger.debug({ workspace: this.#spec.id, reason: toWorkspaceError(error).message }, 'link not opened')
    })
    return live as Live
  }

  async #sayWhatWasLost(live: Live): Promise<void> {
    const opened = await live.client.opened()
    live.instance = opened.instance
    const before = this.#before
    this.#before = undefined
    if (before?.instance === undefined || before.instance === opened.instance) return
    const { info } = live.environment
    this.#say(isSame(before.info, info) ? restarted(info) : madeAgain(info))
  }

  #say(sentence: string): void {
    this.#notices.push(sentence)
    this.#options.onLost?.(sentence)
    this.#options.logger.warn({ workspace: this.#spec.id }, sentence)
  }

  #drop(live: Live): void {
    if (this.#live !== live) return
    this.#live = undefined
    this.#before ??= { instance: live.instance, info: live.environment.info }
    live.stopKeepAlive()
    this.news.lost()
    live.client
      .close('detach')
      .catch(error => this.#options.logger.debug({ reason: toWorkspaceError(error).message }, 'lost link not closed'))
  }

  #keepAlive(environment: Environment): () => void {
    let stop = (): void => {}
    let stopped = false
    const again = (): void => {
      if (!stopped) stop = after(KEEP_ALIVE_MS, beat, { unref: true })
    }
    const beat = (): void => {
      environment
        .keepAlive()
        .catch(error => this.#options.logger.debug({ reason: toWorkspaceError(error).message }, 'environment not kept alive'))
        .finally(again)
    }
    again()
    return () => {
      stopped = true
      stop()
    }
  }

  async #release(environment: Environment | undefined): Promise<void> {
    try {
      await environment?.[Symbol.asyncDispose]()
    } catch (error) {
      this.#options.logger.debug({ reason: toWorkspaceError(error).message }, 'handles of a lost environment not released')
    }
  }

  #closedError(): WorkspaceError {
    return new WorkspaceError('environment_gone', `Workspace "${this.#spec.name}" is closed.`, {
      hint: 'Open it again, or use another workspace.',
    })
  }
}
