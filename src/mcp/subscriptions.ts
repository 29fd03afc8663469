import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import type { Scope } from '../manager/scope.ts'
import type { Watch, Watcher } from '../workspace/watches.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { MethodHandler } from './method.ts'
import { RpcError } from './method.ts'
import { baseOf, fullPath, resourceError } from './resource-read.ts'
import { parseResourceUri } from './resource-uri.ts'
import { listWorkspaces } from './resources.ts'
import { acquire, type SessionContext, scopeOf } from './session-context.ts'
import { INVALID_PARAMS } from './shape.ts'
import { withSkills } from './skill-access.ts'
import { INDEX_URI, isSkillUri, resolveSkillUri } from './skill-uri.ts'

const MAX_SUBSCRIPTIONS = 1_000
const ALL_URI = 'workspace://'

interface Subscription {
  readonly scope: Scope
  /** It names no workspace: it is about the current one, whichever that is. */
  follows?: boolean
  /** It is about the status of its workspace, and outlives its end. */
  status?: true
  workspace?: string
  watch?: Watch
}

interface Call {
  uri: string
  scope: Scope
  signal: AbortSignal
}

/**
 * The resources that a client wants to hear of: files and directories by watches of their workspace, the status of one by its
 * jobs, its servers and its ends. A subscription keeps no workspace open; one to a file ends when it is closed, which is logged to
 * the client.
 */
export class Subscriptions {
  readonly #context: SessionContext
  readonly #tell: (uri: string) => void
  readonly #known = new Map<string, Subscription>()
  readonly #pending = new Set<string>()
  #flush: NodeJS.Immediate | undefined
  readonly #end = new AbortController()

  constructor(context: SessionContext, tell: (uri: string) => void) {
    this.#context = context
    this.#tell = tell
  }

  /** `resources/subscribe`: answers when the resource is watched; a URI that is watched already stays so. */
  readonly subscribe: MethodHandler = async (params, { signal }) => {
    const uri = uriOf(params)
    if (this.#known.has(uri)) return {}
    if (this.#known.size >= MAX_SUBSCRIPTIONS)
      throw new WorkspaceError('limit_exceeded', `${MAX_SUBSCRIPTIONS} resources are subscribed already.`, {
        hint: 'Unsubscribe from some.',
      })
    const subscription: Subscription = { scope: scopeOf(this.#context, params) }
    this.#known.set(uri, subscription)
    try {
      await this.#begin(subscription, { uri, scope: subscription.scope, signal })
    } catch (error) {
      if (this.#holds(uri, subscription)) this.#known.delete(uri)
      throw resourceError(error, uri)
    }
    // It may have been given up while it began.
    if (!this.#holds(uri, subscription)) subscription.watch?.end()
    return {}
  }

  /** `resources/unsubscribe`; one that is not there is fine. */
  readonly unsubscribe: MethodHandler = async params => {
    const uri = uriOf(params)
    this.#known.get(uri)?.watch?.end()
    this.#known.delete(uri)
    this.#pending.delete(uri)
    return {}
  }

  /** The list of workspaces is another. */
  allChanged(): void {
    if (this.#known.has(ALL_URI)) this.#changed(ALL_URI)
  }

  /** The skills are others. */
  skillsChanged(): void {
    if (this.#known.has(INDEX_URI)) this.#changed(INDEX_URI)
  }

  /** The status of a workspace is another; absent: that of any. */
  statusChanged(id?: string): void {
    for (const [uri, { status, workspace }] of this.#known) if (status && workspace === (id ?? workspace)) this.#changed(uri)
  }

  /** A workspace is in use, maybe for the first time since its last end. */
  opened(workspace: Workspace): void {
    for (const [uri, known] of this.#known) {
      if (!known.status || known.workspace !== workspace.id || known.watch !== undefined) continue
      this.#followStatus(uri, known, workspace)
      this.#changed(uri)
    }
  }

  /** Another workspace is the current one: what names none is watched there from now on, and is told of once. */
  currentChanged(): void {
    this.statusChanged()
    for (const [uri, { scope, follows, workspace, watch }] of [...this.#known]) {
      if (!follows || workspace === this.#context.state.current) continue
      watch?.end()
      void this.#rebind(uri, scope)
    }
  }

  close(): void {
    this.#end.abort()
    clearImmediate(this.#flush)
    for (const { watch } of this.#known.values()) watch?.end()
    this.#known.clear()
  }

  async #rebind(uri: string, scope: Scope): Promise<void> {
    const subscription: Subscription = { scope }
    this.#known.set(uri, subscription)
    try {
      await this.#begin(subscription, { uri, scope, signal: this.#end.signal })
    } catch (error) {
      if (!this.#holds(uri, subscription)) return
      this.#tell(uri)
      this.#ended(uri, toWorkspaceError(error).message)
      return
    }
    if (this.#holds(uri, subscription)) this.#changed(uri)
    else subscription.watch?.end()
  }

  #holds(uri: string, subscription: Subscription): boolean {
    return !this.#end.signal.aborted && this.#known.get(uri) === subscription
  }

  async #begin(subscription: Subscription, call: Call): Promise<void> {
    if (isSkillUri(call.uri)) return this.#beginSkill(subscription, call)
    const target = parseResourceUri(call.uri)
    if (target.kind === 'all') {
      this.#context.showingResources?.(call.scope, await listWorkspaces(this.#context, call.scope, call.signal))
      return
    }
    if (target.kind === 'status') return this.#beginStatus(subscription, { ...call, ref: target.id })
    subscription.follows = target.id === undefined
    using lease = await acquire(this.#context, call.scope, { ref: target.id, signal: call.signal })
    const { workspace } = lease
    subscription.workspace = workspace.id
    await this.#watch(subscription, workspace, { ...call, path: fullPath(baseOf(workspace, target, call.uri), target.path) })
  }

  /** Opens nothing. */
  async #beginStatus(subscription: Subscription, { uri, scope, signal, ref }: Call & { ref: string }): Promise<void> {
    const { manager } = this.#context.services
    const { id } = await manager.find(scope, ref, { signal })
    subscription.status = true
    subscription.workspace = id
    const opened = manager.opened(id)
    if (opened !== undefined) this.#followStatus(uri, subscription, opened)
  }

  #followStatus(uri: string, subscription: Subscription, workspace: Workspace): void {
    const changed = (): void => this.#changed(uri)
    const ended = (): void => {
      delete subscription.watch
      // Its state is another once it has ended.
      void this.#context.services.manager.closed?.(workspace.id).then(changed)
    }
    subscription.watch = workspace.watches.startOnJobs({ changed, ended })
  }

  #beginSkill(subscription: Subscription, call: Call): Promise<void> {
    subscription.follows = call.uri.toLowerCase() !== INDEX_URI
    return withSkills(this.#context, call, async (workspace, skills) => {
      subscription.workspace = workspace.id
      if (call.uri.toLowerCase() === INDEX_URI) return
      const found = resolveSkillUri(call.uri, skills)
      if (found === undefined) throw new WorkspaceError('not_found', `There is no skill for "${call.uri}".`)
      await this.#watch(subscription, workspace, { ...call, path: fullPath(found.skill.dir, found.path) })
    })
  }

  async #watch(subscription: Subscription, workspace: Workspace, call: Call & { path: string }): Promise<void> {
    const watcher = this.#watcher(call.uri, subscription)
    subscription.watch = await workspace.watches.start(call.path, watcher, { signal: call.signal })
    for (const notice of subscription.watch.notices) this.#context.log('warning', notice)
  }

  #watcher(uri: string, subscription: Subscription): Watcher {
    return {
      changed: () => this.#changed(uri),
      noticed: notice => this.#context.log('warning', notice),
      ended: reason => {
        if (this.#known.get(uri) === subscription) this.#ended(uri, reason)
      },
    }
  }

  #ended(uri: string, reason: string): void {
    this.#known.delete(uri)
    this.#context.log('warning', `The subscription to ${uri} has ended: ${reason}. Subscribe again once it is wanted.`)
  }

  /** What changes several times in one turn is told of once. */
  #changed(uri: string): void {
    if (this.#end.signal.aborted) return
    this.#pending.add(uri)
    this.#flush ??= setImmediate(() => {
      this.#flush = undefined
      const uris = [...this.#pending].filter(each => this.#known.has(each))
      this.#pending.clear()
      for (const each of uris) this.#tell(each)
    })
  }
}

function uriOf({ uri }: Record<string, unknown>): string {
  if (typeof uri === 'string') return uri
  throw new RpcError(INVALID_PARAMS, 'The method needs "uri", a string.')
}
