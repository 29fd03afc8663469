import { toWorkspaceError } from '../../lib/errors.ts'
import type { NestedTools } from '../../tools/nested-tools.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { JsonRpcAnswer, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from '../message.ts'
import { type Emit, LIST_KEYS, type Upstream } from '../relay.ts'
import { type SessionContext, scopeOf } from '../session-context.ts'
import { isObject } from '../shape.ts'
import { shownSkills } from '../skill-access.ts'
import { Announcer } from './announcer.ts'
import { Catalogue } from './catalogue.ts'
import { claimOf, type NestedClaim } from './claims.ts'
import { failedCall } from './failed-call.ts'
import { lighterAnswer } from './lighter-answer.ts'
import type { LinkEvents, NestedLink } from './nested-link.ts'
import { NestedLinks, type Place } from './nested-links.ts'
import { nestedTools } from './nested-tools.ts'
import { Origins } from './routes.ts'
import { ServerVoice } from './server-voice.ts'
import { taskList } from './task-list.ts'
import { type ClientFacts, clientFacts, unwrapOrigin } from './to-client.ts'

type Params = Record<string, unknown>

export interface NestedUpstreamOptions {
  /** The tools that the client was shown before this session knew of it. */
  announcedTools?: readonly Params[] | undefined
  /** Takes the nested part of the default workspace's tools whenever it may have changed, for the next start. */
  onTools?: ((tools: readonly Params[]) => void) | undefined
}

/** The nested servers of a session, as its router sees them: one upstream whatever comes and goes behind it. */
export class NestedUpstream implements Upstream {
  readonly name = 'nested'
  readonly #context: SessionContext
  readonly #options: NestedUpstreamOptions
  readonly #links: NestedLinks
  readonly #announcer: Announcer
  readonly #voice: ServerVoice
  readonly #inFlight = new Map<number, { link: NestedLink; server: string; request: JsonRpcRequest }>()
  readonly #tasks = new Origins()
  readonly #resources = new Origins()
  #client: ClientFacts = clientFacts(undefined)
  #emit: Emit = () => {}

  constructor(context: SessionContext, options: NestedUpstreamOptions = {}) {
    this.#context = context
    this.#options = options
    this.#announcer = new Announcer(kind => this.#emit({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` }))
    if (options.announcedTools !== undefined) this.#announcer.know('tools', options.announcedTools)
    this.#voice = new ServerVoice({
      emit: (message, related) => this.#emit(message, related),
      announcer: this.#announcer,
      tasks: this.#tasks,
      latest: (link, server) => this.#latest(link, server),
    })
    const events: LinkEvents = {
      answer: (link, server, answer) => this.#answered(link, server, answer),
      request: (link, server, request, related) => this.#voice.ask(link, server, { request, related, client: this.#client }),
      notification: (link, server, notification, related) => this.#voice.tell(link, server, { notification, related }),
      changed: link => this.#changed(link),
    }
    this.#links = new NestedLinks(context, events)
  }

  connect(emit: Emit): void {
    this.#emit = emit
  }

  lists(method: string): boolean {
    return LIST_KEYS[method] !== undefined
  }

  owns(method: string, params: Params): NestedClaim | undefined | Promise<NestedClaim | undefined> {
    const sources = {
      links: this.#links,
      tasks: this.#tasks,
      resources: this.#resources,
      warn: (error: unknown) => this.#warn(error),
    }
    return claimOf(this.#context, { method, params }, sources)
  }

  receive(message: JsonRpcMessage, claim?: unknown): void {
    if (!('method' in message)) this.#clientAnswered(message)
    else if (!('id' in message)) this.#clientTold(message)
    else if (LIST_KEYS[message.method] !== undefined) void this.#list(message)
    else this.#request(message, claim as NestedClaim)
  }

  /** What the client said in `initialize`. */
  clientIs(params: Params | undefined): void {
    this.#client = clientFacts(params)
  }

  setLevel(level: string): void {
    this.#links.setLevel(level)
  }

  /** A workspace was opened by a call: the servers of the current one are of interest from now on. */
  opened(workspace: Workspace, place: Place): void {
    if (this.#links.peek(place) !== undefined) return
    const attach = async (): Promise<void> => {
      if ((await this.#links.currentId(place)) === workspace.id) await this.#links.attach(workspace, place.scope)
    }
    attach().catch(error => this.#warn(error))
  }

  /** The servers of an open workspace, as the tools about them see them. */
  async tools(workspace: Workspace, scope: Place['scope']): Promise<NestedTools> {
    return nestedTools(await this.#links.attach(workspace, scope))
  }

  /** Another workspace is the current one: its servers are shown now. */
  currentChanged(): void {
    const show = async (): Promise<void> => {
      const catalogue = await this.#links.known({ scope: this.#context.scope })
      this.#announcer.now(catalogue ?? new Catalogue([], await this.#links.loadOwn()))
    }
    show().catch(error => this.#warn(error))
  }

  async close(): Promise<void> {
    this.#announcer.close()
    this.#links.close()
    this.#inFlight.clear()
    await this.#context.services.nested?.lists.settled()
  }

  async #list({ id, method, params = {} }: JsonRpcRequest): Promise<void> {
    const key = LIST_KEYS[method] as string
    const place = { scope: scopeOf(this.#context, params) }
    try {
      const result =
        key === 'tasks' ? await taskList(this.#links.peek(place), this.#tasks) : { [key]: await this.#items(key, place) }
      this.#emit({ jsonrpc: '2.0', id, result })
    } catch (error) {
      this.#warn(error)
      this.#emit({ jsonrpc: '2.0', id, result: { [key]: [] } })
    }
  }

  async #items(key: string, place: Place): Promise<readonly Params[]> {
    const catalogue = await this.#links.known(place)
    if (catalogue === undefined && this.#context.services.nested?.declared) {
      this.#links.open(place).catch(error => this.#warn(error))
    }
    const whole = catalogue ?? new Catalogue([], await this.#links.loadOwn())
    const { lists } = whole
    this.#links
      .peek(place)
      ?.refresh()
      .catch(error => this.#warn(error))
    if (key === 'tools') this.#announcer.know('tools', lists.tools)
    if (key !== 'prompts') return lists[key as keyof typeof lists]
    this.#announcer.know('prompts', lists.prompts)
    return this.#promptsBesideSkills(whole, place)
  }

  async #promptsBesideSkills(catalogue: Catalogue, { scope }: Place): Promise<readonly Params[]> {
    if (!catalogue.servers.some(({ expose }) => expose === 'bare')) return catalogue.lists.prompts
    return catalogue.promptsBeside(new Set((await shownSkills(this.#context, scope)).map(({ name }) => name)))
  }

  #request(request: JsonRpcRequest, claim: NestedClaim): void {
    const id = request.id as number
    if ('failed' in claim) {
      this.#emit(failedCall(request, claim.failed))
      return
    }
    const { link, server, rewrite } = claim
    this.#inFlight.set(id, { link, server, request })
    link.send(server, request.params === undefined ? request : { ...request, params: rewrite(request.params) })
  }

  #clientAnswered(answer: JsonRpcAnswer): void {
    const origin = unwrapOrigin(answer.id)
    const link = origin && this.#links.byNumber(origin.link)
    if (origin !== undefined) link?.send(origin.server, { ...answer, id: origin.id as string | number })
  }

  #clientTold(notification: JsonRpcNotification): void {
    const { method, params } = notification
    if (method === 'notifications/initialized') return
    if (method === 'notifications/cancelled') {
      const called = this.#inFlight.get(params?.requestId as number)
      this.#inFlight.delete(params?.requestId as number)
      called?.link.send(called.server, notification)
    } else if (method === 'notifications/progress') {
      const origin = unwrapOrigin(params?.progressToken)
      if (origin === undefined) return
      this.#links.byNumber(origin.link)?.send(origin.server, { ...notification, params: { ...params, progressToken: origin.id } })
    } else for (const link of this.#links.all) link.sendToRunning(notification)
  }

  #answered(link: NestedLink, server: string, answer: JsonRpcAnswer): void {
    const called = this.#inFlight.get(answer.id as number)
    if (called === undefined || !this.#inFlight.delete(answer.id as number)) return
    if (isObject(answer.result)) this.#learn(link, server, answer.result)
    const lighter = lighterAnswer(this.#context, called, answer)
    if (lighter instanceof Promise) void lighter.then(this.#emit)
    else this.#emit(lighter)
  }

  #changed(link: NestedLink): void {
    this.#context.onServers?.(link.workspace.id)
    if (this.#links.peek({ scope: this.#context.scope }) !== link) return
    this.#announcer.now(link.catalogue)
    this.#links.keep(link)
    if (this.#context.state.current === undefined) this.#options.onTools?.(link.catalogue.lists.tools)
  }

  #latest(link: NestedLink, server: string): number | undefined {
    return [...this.#inFlight].findLast(([, call]) => call.link === link && call.server === server)?.[0]
  }

  #learn(link: NestedLink, server: string, { task, content }: Params): void {
    if (isObject(task)) this.#tasks.learn(link, task.taskId, server)
    for (const block of Array.isArray(content) ? content : []) {
      if (!isObject(block)) continue
      const { uri } = isObject(block.resource) ? block.resource : block
      if (block.type === 'resource_link' || block.type === 'resource') this.#resources.learn(link, uri, server)
    }
  }

  #warn(error: unknown): void {
    const { message } = toWorkspaceError(error)
    this.#context.services.logger.warn({ error: message }, 'nested servers are not at hand')
  }
}
