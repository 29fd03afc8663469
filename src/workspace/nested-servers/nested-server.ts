import type { NestedExitedNews, NestedMessageNews, NestedStartResult } from '../../gateway/protocol.ts'
import { sleep, withSignal } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import { isRecord } from '../../lib/is-record.ts'
import type { Logger } from '../../lib/log.ts'
import type { GatewayCalls } from '../environment-link.ts'
import { Backoff } from './backoff.ts'
import { Conversation, type Party } from './conversation.ts'
import { withoutValues } from './declaration.ts'
import type { Declared } from './declarations.ts'
import { ListKeeper } from './list-keeper.ts'
import type { NestedMessage, NestedScope, NestedServerView, NestedState, NestedStatus } from './port.ts'
import { startHash, startParams, type VariableSources } from './start-params.ts'

export const DEFAULT_CALL_MS = 600_000

export interface NestedServerOptions {
  scope: NestedScope
  declared: Declared
  gateway: GatewayCalls
  variables: VariableSources
  /** Servers that may run at once in the workspace: at that bound, idle ones of other scopes make room for it. */
  maxLive: number
  /** Those who hear the server, the latest first. */
  parties(): readonly Party[]
  /** State or lists changed. */
  changed(): void
  logger: Logger
}

/** One declared server: starts it when somebody needs it, keeps its status and lists, carries what is said. */
export class NestedServer {
  readonly name: string
  readonly declared: Declared
  readonly #options: NestedServerOptions
  readonly #conversation: Conversation
  readonly #lists: ListKeeper
  readonly #backoff = new Backoff()
  #state: NestedState = 'stopped'
  #reason: string | undefined
  #stderrTail: string | undefined
  #initialize: Record<string, unknown> | undefined
  #instance: { id: string; pid: number | undefined; since: number } | undefined
  #starting: Promise<void> | undefined
  /** Ends a start that nobody wants any more. */
  readonly #removal = new AbortController()

  constructor(options: NestedServerOptions) {
    const { declared, logger } = options
    this.#options = options
    this.declared = declared
    this.name = declared.declaration.name
    this.#conversation = new Conversation({
      name: this.name,
      callTimeoutMs: declared.declaration.callTimeoutMs ?? DEFAULT_CALL_MS,
      parties: options.parties,
      running: () => this.#instance !== undefined || this.#starting !== undefined,
      transmit: (message, isWanted) => this.#transmit(message, isWanted),
      listChanged: method => this.#lists.changed(method),
    })
    this.#lists = new ListKeeper({
      running: () => this.#instance !== undefined,
      ask: (method, params) => this.#conversation.ask(method, params),
      changed: options.changed,
      log: reason => logger.warn({ server: this.name, reason }, 'a list of a nested server was not read'),
    })
  }

  /** Id of the running instance in the gateway. */
  get instance(): string | undefined {
    return this.#instance?.id
  }

  get inFlight(): number {
    return this.#conversation.inFlight
  }

  /** Whether somebody works with it or waits for it. */
  get busy(): boolean {
    return this.#starting !== undefined || this.#conversation.inFlight > 0
  }

  get view(): NestedServerView {
    const { expose = 'prefixed', enableTools, disableTools, callTimeoutMs = DEFAULT_CALL_MS } = this.declared.declaration
    const { tools, ...others } = this.#lists.lists
    return {
      ...{ name: this.name, expose, state: this.#state, callTimeoutMs },
      lists: tools === undefined ? others : { tools: tools.filter(tool => this.isEnabled(tool.name)), ...others },
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      ...(this.#initialize === undefined ? {} : { initialize: this.#initialize }),
      ...(enableTools === undefined ? {} : { enableTools }),
      ...(disableTools === undefined ? {} : { disableTools }),
    }
  }

  get status(): NestedStatus {
    const { instructions, serverInfo, capabilities } = this.#initialize ?? {}
    const { expose, lists } = this.view
    const pid = this.#instance?.pid
    return {
      ...{ name: this.name, declaration: withoutValues(this.declared.declaration), expose, state: this.#state },
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      ...(this.#stderrTail ? { stderrTail: this.#stderrTail } : {}),
      ...(typeof instructions === 'string' ? { instructions } : {}),
      ...(isRecord(serverInfo) ? { serverInfo } : {}),
      ...(isRecord(capabilities) ? { capabilities } : {}),
      ...(lists.tools === undefined ? {} : { tools: lists.tools.length }),
      ...{ inFlight: this.inFlight, source: this.declared.source, warnings: this.#lists.warnings },
      ...(pid === undefined ? {} : { pid }),
    }
  }

  /** Whether the declaration leaves a tool on. */
  isEnabled(tool: unknown): boolean {
    const { enableTools, disableTools } = this.declared.declaration
    const name = String(tool)
    return (enableTools === undefined || enableTools.includes(name)) && !disableTools?.includes(name)
  }

  /** Whether an instance is what the declaration starts. */
  isStartedAs(hash: string): boolean {
    const { scope, declared, variables } = this.#options
    return startHash(scope, declared, variables) === hash
  }

  /** Resolves when it runs; a start that is under way is shared, and goes on when `signal` aborts. */
  ensure(signal?: AbortSignal): Promise<void> {
    if (this.#instance !== undefined && this.#state === 'ready') return Promise.resolve()
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    return withSignal(this.#starting, signal)
  }

  /** Resolves when the first lists were read, however that went. */
  listed(): Promise<void> {
    return this.#lists.settled
  }

  /** Gives it a message of a party; a request starts it where needed, and always gets an answer. */
  send(party: Party, message: NestedMessage): void {
    this.#conversation.send(party, message)
  }

  /** A party has left. */
  leave(party: Party): void {
    this.#conversation.leave(party)
  }

  receive(news: NestedMessageNews): void {
    this.#conversation.receive(news)
  }

  exited({ reason, stderrTail, stopped }: NestedExitedNews): void {
    const since = this.#instance?.since ?? performance.now()
    // One that was ended has not failed.
    if (stopped) this.#backoff.reset()
    else this.#backoff.ended(reason, { ranMs: performance.now() - since, answered: this.#conversation.answered })
    this.#stopped(reason, stderrTail)
  }

  /** The gateway, or the way to it, is not the one of before: what was under way is lost. */
  lost(): void {
    if (this.#instance !== undefined) this.#stopped('the gateway was restarted or out of reach')
  }

  /** Ends it; it starts again when somebody needs it. */
  async stop(reason: string): Promise<void> {
    const id = this.#instance?.id
    if (id === undefined) return
    this.#stopped(reason)
    await this.#options.gateway.call('nested.stop', { server: id, reason })
  }

  /** Ends it for good. */
  async remove(): Promise<void> {
    this.#removal.abort()
    await this.#starting?.catch(() => {})
    await this.stop('it was removed')
  }

  #stopped(reason: string, stderrTail?: string): void {
    this.#instance = undefined
    this.#stderrTail = stderrTail
    this.#conversation.ended(reason)
    this.#set('stopped', reason)
  }

  async #start(): Promise<void> {
    await sleep(this.#backoff.pause(this.name))
    this.#set('starting')
    try {
      const { scope, declared, gateway, variables, maxLive } = this.#options
      const params = { ...startParams(scope, declared, variables), maxLive }
      const result = await gateway.call('nested.start', params, { signal: this.#removal.signal })
      if (result.failure !== undefined) {
        this.#stderrTail = result.failure.stderrTail
        throw new WorkspaceError('unavailable', result.failure.reason, {
          hint: 'Put that right, then call again; mcp_list shows what it wrote.',
        })
      }
      this.#started(result)
    } catch (error) {
      throw this.#failed(toWorkspaceError(error))
    }
  }

  #started({ server, result = {}, pid }: NestedStartResult): void {
    this.#backoff.reset()
    this.#instance = { id: server, pid, since: performance.now() }
    this.#initialize = result
    this.#stderrTail = undefined
    if (this.#removal.signal.aborted) return
    this.#conversation.begun()
    this.#set('ready')
    void this.#lists.readAll(result.capabilities)
  }

  #failed({ code, message, hint }: WorkspaceError): WorkspaceError {
    this.#backoff.failed(message)
    this.#set('failed', message)
    const tail = this.#stderrTail ? `\nIt wrote last:\n${this.#stderrTail.slice(-1500)}` : ''
    return new WorkspaceError(code, `The nested server ${JSON.stringify(this.name)} could not be started: ${message}.${tail}`, {
      hint,
    })
  }

  #set(state: NestedState, reason?: string): void {
    this.#state = state
    this.#reason = reason
    this.#options.changed()
  }

  /** Throws `not_found` where no instance runs any more. */
  async #transmit(message: NestedMessage, isWanted = (): boolean => true): Promise<void> {
    if (this.#instance === undefined) await this.ensure()
    if (!isWanted()) return
    const server = this.#instance?.id
    if (server === undefined) throw new WorkspaceError('not_found', `The nested server ${JSON.stringify(this.name)} is gone.`)
    try {
      await this.#options.gateway.call('nested.send', { server, message }, { ordered: true })
    } catch (error) {
      if (toWorkspaceError(error).code === 'not_found' && this.#instance?.id === server) this.#stopped('it had ended')
      throw error
    }
  }
}
