import { isSameScope } from '../../gateway/nested/make-room.ts'
import type { NestedInfo } from '../../gateway/protocol.ts'
import { withSignal } from '../../lib/deadline.ts'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { GatewayCalls } from '../environment-link.ts'
import type { GatewayNews } from '../gateway-news.ts'
import type { PortOptions } from '../ports.ts'
import { Attachment } from './attachment.ts'
import { checkDeclaration } from './declaration.ts'
import { alreadyThere, Declarations, type Declared } from './declarations.ts'
import { NestedServer } from './nested-server.ts'
import { NewsDesk } from './news-desk.ts'
import type { NestedAttachment, NestedEvents, NestedScope, NestedServers, NestedStatus, ServerDeclaration } from './port.ts'
import { ScopeServers } from './scope-servers.ts'
import type { VariableSources } from './start-params.ts'

/** What the operator says about nested servers. */
export interface NestedSettings {
  /** Servers of every scope that never changed its own. */
  defaults: readonly ServerDeclaration[]
  variables: VariableSources
}

export const NO_NESTED_SETTINGS: NestedSettings = { defaults: [], variables: { host: {}, secrets: {} } }

export interface NestedServersOptions extends NestedSettings {
  root: string
  /** Servers that may run at once in the workspace; 0: 40, or twice the defaults. */
  maxLive: number
  logger: Logger
}

const USUAL_MAX_LIVE = 40

/** The nested servers of a workspace behind a gateway. Nothing is read or started before somebody asks. */
export function createNestedServers(
  gateway: GatewayCalls,
  news: GatewayNews,
  options: NestedServersOptions,
): NestedServers & { reset(): void } {
  return new Supervisor(gateway, news, options)
}

class Supervisor implements NestedServers {
  readonly #gateway: GatewayCalls
  readonly #options: NestedServersOptions
  readonly #declarations: Declarations
  readonly #scopes = new Map<string, ScopeServers>()
  /** Names that are being added, by scope. */
  readonly #adding = new Set<string>()
  readonly #desk: NewsDesk

  constructor(gateway: GatewayCalls, news: GatewayNews, options: NestedServersOptions) {
    this.#gateway = gateway
    this.#options = options
    this.#declarations = new Declarations(gateway, options)
    this.#desk = new NewsDesk(news, () => this.#servers())
  }

  get inFlight(): number {
    return this.#servers().reduce((sum, server) => sum + server.inFlight, 0)
  }

  async list(scope: NestedScope): Promise<NestedStatus[]> {
    const servers = this.#scope(scope)
    await servers.load()
    await servers.joinRunning()
    return servers.statuses()
  }

  async add(scope: NestedScope, declaration: ServerDeclaration, { signal }: PortOptions = {}): Promise<NestedStatus> {
    checkDeclaration(declaration)
    const servers = this.#scope(scope)
    await servers.load()
    const key = JSON.stringify([scope.agent, scope.session, declaration.name])
    const isTaken = servers.statuses().some(({ name }) => name === declaration.name)
    if (isTaken || this.#adding.has(key)) throw alreadyThere(declaration.name)
    this.#adding.add(key)
    try {
      return await this.#add(scope, declaration, signal)
    } finally {
      this.#adding.delete(key)
    }
  }

  async remove(scope: NestedScope, name: string): Promise<boolean> {
    const found = await this.#declarations.remove(scope, name)
    await this.#scope(scope).load()
    if (found) await this.#endRunning('it was removed', info => isSameScope(scope, info.scope) && info.name === name)
    return found
  }

  attach(scope: NestedScope, events: NestedEvents): NestedAttachment {
    return new Attachment(this.#scope(scope), events)
  }

  async purgeSession(scope: NestedScope): Promise<void> {
    await this.#declarations.forget(scope)
    await this.#endScope(scope)
  }

  async purgeAgent(agent: string): Promise<void> {
    await this.#declarations.forgetAgent(agent)
    for (const key of this.#scopes.keys()) {
      const [of, session] = JSON.parse(key) as [string, string]
      if (of === agent) await this.#endScope({ agent, session })
    }
    await this.#endRunning('its agent was purged', ({ scope }) => scope.agent === agent)
  }

  /** The workspace was emptied: its servers have ended, its declarations are gone. */
  reset(): void {
    for (const scope of this.#scopes.values()) {
      for (const server of scope.servers) server.lost()
      scope.load().catch(() => {})
    }
  }

  dispose(): void {
    this.#desk.dispose()
    for (const server of this.#servers()) server.lost()
  }

  /** Ends what runs of a scope; it has what is declared now. */
  async #endScope(scope: NestedScope): Promise<void> {
    const servers = this.#scope(scope)
    const reason = 'its session was purged'
    await Promise.all(servers.servers.map(server => server.stop(reason)))
    await this.#endRunning(reason, info => isSameScope(scope, info.scope))
    await servers.load()
  }

  /** Ends running servers, whichever host started them. */
  async #endRunning(reason: string, chosen: (info: NestedInfo) => boolean): Promise<void> {
    const { servers } = await this.#gateway.call('nested.list', {})
    await Promise.all(servers.filter(chosen).map(({ server }) => this.#gateway.call('nested.stop', { server, reason })))
  }

  async #running(scope: NestedScope): Promise<NestedInfo[]> {
    try {
      return (await this.#gateway.call('nested.list', {})).servers.filter(info => isSameScope(scope, info.scope))
    } catch (error) {
      this.#options.logger.warn({ reason: toWorkspaceError(error).message }, 'the gateway did not say what runs')
      return []
    }
  }

  /** Connects first, and records what can be connected to. */
  async #add(scope: NestedScope, declaration: ServerDeclaration, signal: AbortSignal | undefined): Promise<NestedStatus> {
    const servers = this.#scope(scope)
    const server = this.#make(scope, { declaration, source: 'added' })
    this.#desk.add(server)
    try {
      await server.ensure(signal)
      await withSignal(server.listed(), signal)
      await this.#declarations.add(scope, declaration)
      servers.put(server)
      return server.status
    } catch (error) {
      if (!(await this.#isDeclared(servers, server))) await server.remove()
      throw error
    } finally {
      this.#desk.delete(server)
    }
  }

  /** Whether another host was quicker to declare the very same server: then it is the one that runs. */
  async #isDeclared(servers: ScopeServers, { name, instance }: NestedServer): Promise<boolean> {
    if (instance === undefined) return false
    await servers.load()
    await servers.joinRunning()
    return servers.find(name)?.instance === instance
  }

  #scope(scope: NestedScope): ScopeServers {
    const key = JSON.stringify([scope.agent, scope.session])
    const known = this.#scopes.get(key)
    if (known !== undefined) return known
    const servers = new ScopeServers({
      read: () => this.#declarations.read(scope),
      running: () => this.#running(scope),
      make: declared => this.#make(scope, declared),
      logger: this.#options.logger,
    })
    this.#scopes.set(key, servers)
    return servers
  }

  #make(scope: NestedScope, declared: Declared): NestedServer {
    const { variables, logger, defaults } = this.#options
    const maxLive = this.#options.maxLive || Math.max(USUAL_MAX_LIVE, 2 * defaults.length)
    return new NestedServer({
      ...{ scope, declared, gateway: this.#gateway, variables, maxLive, logger },
      parties: () => this.#scope(scope).parties,
      changed: () => {
        this.#desk.flush()
        this.#scope(scope).changed()
      },
    })
  }

  #servers(): NestedServer[] {
    return [...this.#scopes.values()].flatMap(scope => scope.servers)
  }
}
