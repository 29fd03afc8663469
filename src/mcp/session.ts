import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scope } from '../manager/scope.ts'
import { ClientRequests } from './client-requests.ts'
import { ClientRoots } from './client-roots.ts'
import { defaultParts } from './default-parts.ts'
import { JobTasks } from './job-tasks.ts'
import type { McpServices } from './mcp-services.ts'
import type { JsonRpcMessage, JsonRpcRequest, RequestId } from './message.ts'
import { NestedUpstream, type NestedUpstreamOptions } from './nested/nested-upstream.ts'
import { clientFacts } from './nested/to-client.ts'
import { handlesLargeResults } from './offload-result.ts'
import { createOwnUpstream, type OwnUpstream } from './own-upstream.ts'
import type { Upstream } from './relay.ts'
import { ResourceListWatch } from './resource-list-watch.ts'
import { listWorkspaces } from './resources.ts'
import { Router } from './router.ts'
import { acquire, LOG_LEVELS, type LogLevel, type SessionContext, type SessionParts, watchedState } from './session-context.ts'
import { createMethods, createQuickMethods } from './session-methods.ts'
import { errorAnswer, INVALID_REQUEST, shapeOf } from './shape.ts'
import { SkillWatch } from './skill-watch.ts'
import { initializeResult, type ProtocolVersion } from './static.ts'
import { Subscriptions } from './subscriptions.ts'

export type { McpServices } from './mcp-services.ts'

export interface SessionOptions {
  /** From authentication, flags and headers; `_meta` of a call may name agent and session where these are ''. */
  scope: Scope
  /** Sends to the client. `related` is the request that a notification or server request belongs to: over HTTP it chooses the stream. */
  send(message: JsonRpcMessage, related?: RequestId): void
  /** What a quick start showed of nested servers' tools, and who keeps them for the next one. */
  nested?: NestedUpstreamOptions
  /** Already answered `initialize` request (the quick start); the session then only learns of it. */
  answeredInitialize?: JsonRpcMessage
}

/** One client's conversation: a router that serves our own part and relays to nested servers. */
export interface ClientSession {
  /** Never throws; answers go out by `send`. */
  receive(message: JsonRpcMessage): void
  /** Cancels what is in flight (its process groups end) and forgets the session's state. Idempotent. */
  close(): Promise<void>
  /** Opens the default workspace and the link to its nested servers, ahead of their first use. */
  warmUp(): Promise<void>
  /** Requests in flight. */
  readonly inFlight: number
}

/** Opens a conversation; `parts` and `upstreams` replace what a session is normally made of. */
export function createSession(
  services: McpServices,
  options: SessionOptions,
  { parts = defaultParts(services.manager), upstreams = [] }: { parts?: SessionParts; upstreams?: readonly Upstream[] } = {},
): ClientSession {
  return new Conversation(services, options, { parts, upstreams })
}

/** After the default workspace was opened its gateway is dialled within this time. */
const AFTER_DIAL_MS = 5

/** The last protocol version with batches. */
const LAST_WITH_BATCHES: ProtocolVersion = '2025-03-26'

class Conversation implements ClientSession {
  readonly #services: McpServices
  readonly #send: SessionOptions['send']
  readonly #context: SessionContext
  readonly #own: OwnUpstream
  readonly #nested: NestedUpstream
  readonly #skills: SkillWatch
  readonly #resources: ResourceListWatch
  readonly #subscriptions: Subscriptions
  readonly #roots: ClientRoots
  readonly #tasks: JobTasks
  readonly #requests = new ClientRequests((message, related) => this.#own.notify(message, related))
  readonly #router: Router
  readonly #running = new Set<Promise<unknown>>()
  #version: ProtocolVersion | undefined
  #logLevel: LogLevel = 'warning'
  #closing: Promise<void> | undefined

  constructor(services: McpServices, options: SessionOptions, made: { parts: SessionParts; upstreams: readonly Upstream[] }) {
    this.#services = services
    this.#send = options.send
    this.#context = {
      services,
      parts: made.parts,
      scope: options.scope,
      key: randomUUID(),
      state: watchedState(() => {
        this.#nested.currentChanged()
        this.#resources.touch()
        this.#subscriptions.currentChanged()
      }),
      ...{ used: new Set(), leftOpen: new Set() },
      nestedTools: (workspace, scope) => this.#nested.tools(workspace, scope),
      onAcquired: (workspace, scope) => {
        this.#nested.opened(workspace, { scope })
        this.#skills.touch()
        this.#resources.opened(workspace.id)
        this.#subscriptions.opened(workspace)
        workspace.watches.renew()
      },
      onServers: workspace => this.#subscriptions.statusChanged(workspace),
      showingSkills: (scope, list) => this.#skills.showing(scope, list),
      rootsKnown: () => this.#roots.known(),
      ask: (method, params, asked) => this.#requests.ask(method, params, asked),
      showingResources: (scope, resources) => this.#resources.shown(scope, resources),
      log: (level, text, related) => this.#log(level, text, related),
    }
    this.#nested = new NestedUpstream(this.#context, options.nested)
    this.#skills = new SkillWatch(this.#context, () => this.#skillsChanged())
    this.#subscriptions = new Subscriptions(this.#context, uri => this.#notify('resources/updated', { uri }))
    this.#resources = new ResourceListWatch(this.#context, {
      list: (scope, signal) => listWorkspaces(this.#context, scope, signal),
      changed: () => {
        this.#notify('resources/list_changed')
        this.#subscriptions.allChanged()
      },
    })
    this.#roots = new ClientRoots(this.#context, () => this.#resources.touch())
    this.#tasks = new JobTasks(this.#context, task => this.#notify('tasks/status', task))
    this.#own = createOwnUpstream({
      methods: createMethods(this.#context, { running: this.#running, subscriptions: this.#subscriptions, tasks: this.#tasks }),
      quick: createQuickMethods(this.#context, {
        tasks: this.#tasks,
        setLogLevel: level => {
          this.#logLevel = level
          this.#nested.setLevel(level)
        },
      }),
      logger: services.logger,
      answered: answer => this.#requests.answered(answer),
    })
    this.#router = new Router({
      own: this.#own,
      upstreams: [this.#nested, ...made.upstreams],
      send: (message, related) => this.#out(message, related),
    })
    const answered = options.answeredInitialize
    if (answered !== undefined && 'params' in answered) this.#initialized(answered.params)
  }

  get inFlight(): number {
    return this.#router.inFlight
  }

  receive(message: JsonRpcMessage): void {
    if (this.#closing !== undefined) return
    try {
      this.#take(message, false)
    } catch (error) {
      this.#services.logger.error({ error: String(error) }, 'a message could not be handled')
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async warmUp(): Promise<void> {
    const lease = await acquire(this.#context, this.#context.scope, { signal: new AbortController().signal })
    lease.release()
    // the dial comes first: what is loaded here loads while the gateway starts
    await sleep(AFTER_DIAL_MS, undefined, { ref: false })
    await this.#own.prepare()
    await this.#context.parts.tools.prepare?.()
  }

  #take(value: unknown, inBatch: boolean): void {
    const shaped = shapeOf(value)
    if (shaped.kind === 'invalid') this.#out(errorAnswer(shaped.id, shaped.code, shaped.reason), shaped.id ?? undefined)
    else if (shaped.kind === 'batch') this.#batch(shaped.items, inBatch)
    else if (shaped.kind !== 'request' || !this.#answeredHere(shaped.message)) {
      this.#router.fromClient(shaped.message)
      if (shaped.kind === 'notification') this.#roots.heard(shaped.message.method)
    }
  }

  #batch(items: readonly unknown[], inBatch: boolean): void {
    const allowed = !inBatch && items.length > 0 && this.#version !== undefined && this.#version <= LAST_WITH_BATCHES
    if (allowed) for (const item of items) this.#take(item, true)
    else {
      const why =
        items.length === 0
          ? 'An empty batch is no request.'
          : `Batches are not part of protocol ${this.#version ?? 'versions after 2025-03-26'}.`
      this.#out(errorAnswer(null, INVALID_REQUEST, why))
    }
  }

  #answeredHere({ id, method, params }: JsonRpcRequest): boolean {
    if (method === 'initialize') {
      this.#out({ jsonrpc: '2.0', id, result: this.#initialized(params) }, id)
    } else if (method === 'ping') this.#out({ jsonrpc: '2.0', id, result: {} }, id)
    else if (this.#version === undefined) {
      this.#out(errorAnswer(id, INVALID_REQUEST, `${method} came before initialize: send initialize first.`), id)
    } else return false
    return true
  }

  #initialized(params: Record<string, unknown> | undefined) {
    const result = initializeResult(params)
    this.#version = result.protocolVersion
    this.#context.client = clientFacts(params)
    this.#nested.clientIs(params)
    this.#context.state.largeResults = handlesLargeResults(params)
    return result
  }

  #out(message: JsonRpcMessage, related?: RequestId): void {
    if (this.#closing === undefined) this.#send(message, related)
  }

  #log(level: LogLevel, text: string, related?: number): void {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(this.#logLevel)) return
    const params = { level, logger: 'atelier', data: text }
    this.#own.notify({ jsonrpc: '2.0', method: 'notifications/message', params }, related)
  }

  #skillsChanged(): void {
    for (const kind of ['prompts', 'resources']) this.#notify(`${kind}/list_changed`)
    this.#subscriptions.skillsChanged()
  }

  #notify(what: string, params?: Record<string, unknown>): void {
    this.#own.notify({ jsonrpc: '2.0', method: `notifications/${what}`, ...(params !== undefined && { params }) })
  }

  async #close(): Promise<void> {
    this.#skills.close()
    this.#resources.close()
    this.#requests.close()
    this.#tasks.close()
    this.#subscriptions.close()
    await this.#router.close()
    await Promise.allSettled([...this.#running])
    const { used, key } = this.#context
    const forgotten = await Promise.allSettled([...used].map(id => this.#services.manager.opened(id)?.forgetSession(key)))
    for (const result of forgotten) {
      if (result.status === 'rejected')
        this.#services.logger.warn({ error: String(result.reason) }, 'session state was not cleared')
    }
  }
}
