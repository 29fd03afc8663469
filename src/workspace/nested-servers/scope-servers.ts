import { isDeepStrictEqual } from 'node:util'
import type { NestedInfo } from '../../gateway/protocol.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { nearest } from '../../lib/suggest.ts'
import type { Party } from './conversation.ts'
import type { Declared, ScopeDeclarations } from './declarations.ts'
import type { NestedServer } from './nested-server.ts'
import type { NestedStatus } from './port.ts'

export interface ScopeOptions {
  read(): Promise<ScopeDeclarations>
  /** What of the scope runs in the gateway, for whichever host. */
  running(): Promise<readonly NestedInfo[]>
  make(declared: Declared): NestedServer
  logger: Logger
}

/** Who hears of changes of a scope. */
export interface ScopeParty extends Party {
  changed(): void
}

/** The servers of one scope, by their declarations. */
export class ScopeServers {
  readonly #options: ScopeOptions
  readonly #parties: ScopeParty[] = []
  #servers = new Map<string, NestedServer>()
  #skipped: ScopeDeclarations['skipped'] = []
  #loading: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** Names that were declared anew while somebody looked. */
  #fresh = new Set<string>()
  /** Counts what was taken in beside the file. */
  #taken = 0
  #loaded = false

  constructor(options: ScopeOptions) {
    this.#options = options
  }

  get servers(): NestedServer[] {
    return [...this.#servers.values()]
  }

  /** The latest first. */
  get parties(): readonly ScopeParty[] {
    return this.#parties
  }

  join(party: ScopeParty): void {
    this.#parties.unshift(party)
  }

  leave(party: ScopeParty): void {
    const at = this.#parties.indexOf(party)
    if (at === -1) return
    this.#parties.splice(at, 1)
    for (const server of this.#servers.values()) server.leave(party)
  }

  /** Tells all that something changed. */
  changed(): void {
    for (const party of this.#parties) party.changed()
  }

  /** Reads the declarations, if they never were. */
  async loaded(): Promise<void> {
    if (!this.#loaded) await this.load()
  }

  /** Reads the declarations: servers that are gone or changed are ended, new ones are there and not started. */
  load(): Promise<void> {
    // One that is under way may have read what was there before.
    if (this.#loading !== undefined) {
      this.#next ??= this.#afterwards(this.#loading)
      return this.#next
    }
    this.#loading = this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** Reads the declarations again, and gives the servers that are new or changed since the last look. */
  async refresh(): Promise<string[]> {
    await this.load()
    const fresh = [...this.#fresh].filter(name => this.#servers.has(name))
    this.#fresh.clear()
    return fresh
  }

  /** Joins what runs already, for an earlier host or another one: its state is known and what it says is heard from now on. */
  async joinRunning(): Promise<void> {
    const running = await this.#options.running()
    const joining = running.map(({ name, hash, state }) => {
      const server = this.#servers.get(name)
      if (server === undefined || !server.isStartedAs(hash)) return undefined
      if (server.instance !== undefined && !server.busy) return undefined
      // One that is being joined already is waited for.
      const joined = server.ensure().catch(() => {})
      return state === 'ready' ? joined : undefined
    })
    await Promise.all(joining)
  }

  find(name: string): NestedServer | undefined {
    return this.#servers.get(name)
  }

  /** The server of a name; throws `not_found`. */
  get(name: string): NestedServer {
    const server = this.#servers.get(name)
    if (server !== undefined) return server
    const skipped = this.#skipped.find(each => each.name === name)
    if (skipped !== undefined)
      throw new WorkspaceError('invalid_argument', `The server "${name}" can't be used: ${skipped.fault}.`)
    const near = nearest(name, [...this.#servers.keys()])
    const hint = near === undefined ? 'mcp_list shows the servers that there are.' : `Did you mean ${JSON.stringify(near)}?`
    throw new WorkspaceError('not_found', `There is no nested server ${JSON.stringify(name)}.`, { hint })
  }

  /** Takes in a server that was started before it was recorded. */
  put(server: NestedServer): void {
    this.#taken += 1
    this.#servers.set(server.name, server)
    this.#fresh.delete(server.name)
    this.changed()
  }

  statuses(): NestedStatus[] {
    const skipped = this.#skipped.map(({ name, fault }): NestedStatus => {
      const rest = { expose: 'hidden', state: 'failed', inFlight: 0, source: 'added', warnings: [] } as const
      return { name, declaration: { name }, reason: `its entry in .mcp can't be used: ${fault}`, ...rest, warnings: [] }
    })
    return [...this.servers.map(server => server.status), ...skipped]
  }

  async #afterwards(loading: Promise<void>): Promise<void> {
    await loading.catch(() => {})
    this.#next = undefined
    return this.load()
  }

  async #load(): Promise<void> {
    const { servers, skipped } = await this.#read()
    const before = this.#servers
    this.#skipped = skipped
    this.#servers = new Map(servers.map(declared => [declared.declaration.name, this.#reuse(before, declared)]))
    const isFirst = !this.#loaded
    if (!isFirst) for (const { name } of this.servers) if (before.get(name) !== this.#servers.get(name)) this.#fresh.add(name)
    this.#loaded = true
    for (const server of before.values()) if (this.#servers.get(server.name) !== server) this.#end(server)
    if (isFirst) await this.joinRunning()
    this.changed()
  }

  /** The declarations as they are once nothing was taken in meanwhile. */
  async #read(): Promise<ScopeDeclarations> {
    for (;;) {
      const taken = this.#taken
      const read = await this.#options.read()
      if (taken === this.#taken) return read
    }
  }

  #reuse(before: ReadonlyMap<string, NestedServer>, declared: Declared): NestedServer {
    const known = before.get(declared.declaration.name)
    return known !== undefined && isDeepStrictEqual(known.declared, declared) ? known : this.#options.make(declared)
  }

  #end(server: NestedServer): void {
    server.remove().catch(error => {
      this.#options.logger.warn(
        { server: server.name, reason: toWorkspaceError(error).message },
        'a removed server was not ended',
      )
    })
  }
}
