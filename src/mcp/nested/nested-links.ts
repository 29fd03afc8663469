import type { NestedScope } from '../../workspace/nested-servers/port.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { PROMPTS } from '../prompts.ts'
import { acquire, type SessionContext } from '../session-context.ts'
import { Catalogue, type KeptServer, type OwnNames } from './catalogue.ts'
import { type LinkEvents, NestedLink } from './nested-link.ts'

/** Who asks, and in which workspace; without `ref` in the current one. */
export interface Place {
  scope: Parameters<typeof acquire>[1]
  ref?: string | undefined
}

/** A session's links to nested servers: one for each workspace and scope that it used, made when first needed. */
export class NestedLinks {
  readonly #context: SessionContext
  readonly #events: LinkEvents
  readonly #links = new Map<string, NestedLink>()
  readonly #opening = new Map<string, Promise<NestedLink>>()
  readonly #defaults = new Map<string, string>()
  #own: OwnNames | undefined
  #last = 0
  #level: string | undefined
  #closed = false

  constructor(context: SessionContext, events: LinkEvents) {
    this.#context = context
    this.#events = events
  }

  /** Names that are Atelier's own; undefined until they were asked for. */
  get own(): OwnNames | undefined {
    return this.#own
  }

  async loadOwn(): Promise<OwnNames> {
    const tools = await this.#context.parts.tools.list()
    this.#own ??= { tools: new Set(tools.map(({ name }) => name)), prompts: new Set(PROMPTS.map(({ name }) => name)) }
    return this.#own
  }

  get all(): readonly NestedLink[] {
    return [...this.#links.values()]
  }

  byNumber(number: number): NestedLink | undefined {
    return this.all.find(link => link.number === number)
  }

  /** The link of a place, if it is there and its workspace still open. */
  peek({ scope, ref }: Place): NestedLink | undefined {
    const id = ref ?? this.#context.state.current ?? this.#defaults.get(JSON.stringify(scope))
    const link = id === undefined ? undefined : this.#links.get(keyOf(id, scope))
    return link !== undefined && this.#isOpen(link) ? link : undefined
  }

  /** Opens the workspace, and the link to its servers. */
  async open(place: Place, signal: AbortSignal = new AbortController().signal): Promise<NestedLink> {
    if (place.ref === undefined) await this.currentId(place)
    using lease = await acquire(this.#context, place.scope, { ref: place.ref, signal })
    return this.attach(lease.workspace, place.scope)
  }

  /** The link to the servers of an open workspace. */
  attach(workspace: Workspace, scope: NestedScope): Promise<NestedLink> {
    const key = keyOf(workspace.id, scope)
    const link = this.#links.get(key)
    if (link?.workspace === workspace) return Promise.resolve(link)
    const opening = this.#opening.get(key) ?? this.#attach(key, workspace, scope)
    this.#opening.set(key, opening)
    return opening
  }

  /** The id of the current workspace. */
  async currentId({ scope }: Place): Promise<string> {
    if (this.#context.state.current !== undefined) return this.#context.state.current
    const id = await this.#context.services.manager.defaultId(scope)
    this.#defaults.set(JSON.stringify(scope), id)
    return id
  }

  /** What is known of the current workspace's servers, without opening anything; undefined: nothing was kept. */
  async known(place: Place): Promise<Catalogue | undefined> {
    const own = await this.loadOwn()
    const id = await this.currentId(place)
    const link = this.#links.get(keyOf(id, place.scope))
    if (link !== undefined) return link.catalogue
    const kept = await this.#context.services.nested?.lists.load(id, scopeOnly(place.scope))
    return kept && new Catalogue(kept, own)
  }

  /** Keeps the lists of a link for the next run. */
  keep(link: NestedLink): void {
    this.#context.services.nested?.lists.save(link.workspace.id, link.scope, link.catalogue.servers)
  }

  setLevel(level: string): void {
    this.#level = level
    for (const link of this.all) link.setLevel(level)
  }

  close(): void {
    this.#closed = true
    for (const link of this.all) link.close()
    this.#links.clear()
  }

  async #attach(key: string, workspace: Workspace, scope: NestedScope): Promise<NestedLink> {
    try {
      const own = await this.loadOwn()
      const kept: readonly KeptServer[] | undefined = await this.#context.services.nested?.lists.load(
        workspace.id,
        scopeOnly(scope),
      )
      this.#last += 1
      const link = new NestedLink({ number: this.#last, workspace, scope: scopeOnly(scope), own, kept }, this.#events)
      if (this.#closed) link.close()
      await link.ready()
      this.#links.get(key)?.close()
      this.#links.set(key, link)
      if (this.#level !== undefined) link.setLevel(this.#level)
      this.#events.changed(link)
      return link
    } finally {
      this.#opening.delete(key)
    }
  }

  #isOpen({ workspace }: NestedLink): boolean {
    return this.#context.services.manager.opened(workspace.id) === workspace
  }
}

function keyOf(id: string, { agent, session }: NestedScope): string {
  return JSON.stringify([id, agent, session])
}

function scopeOnly({ agent, session }: NestedScope): NestedScope {
  return { agent, session }
}
