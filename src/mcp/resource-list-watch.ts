import { createHash } from 'node:crypto'
import { toWorkspaceError } from '../lib/errors.ts'
import type { Scope } from '../manager/scope.ts'
import type { Watch, Watcher } from '../workspace/watches.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { SessionContext } from './session-context.ts'

type Listed = readonly Record<string, unknown>[]

/** How soon after its cause a look follows, and between two looks. */
const SETTLE_MS = 200
const BETWEEN_MS = 1_000
/** Workspaces whose top level is watched. */
const MAX_WATCHED = 32
/** Notices of one session. */
const MAX_NOTICES = 64

export interface ResourceListWatchOptions {
  /** The list as the client would get it now. */
  list(scope: Scope, signal: AbortSignal): Promise<Listed>
  /** It is another than the client was shown. */
  changed(): void
}

/**
 * Tells a client that was shown the resources of its workspaces when they are others: by its own calls, or since a file came or
 * went at the top of a workspace that is open. Skills have a watch of their own.
 */
export class ResourceListWatch {
  readonly #context: SessionContext
  readonly #options: ResourceListWatchOptions
  readonly #watches = new Map<string, Watch | undefined>()
  readonly #end = new AbortController()
  #scope: Scope | undefined
  #shown: string | undefined
  #timer: NodeJS.Timeout | undefined
  #looked = Number.NEGATIVE_INFINITY
  readonly #told = new Set<string>()

  constructor(context: SessionContext, options: ResourceListWatchOptions) {
    this.#context = context
    this.#options = options
  }

  /** The client is given this list. */
  shown(scope: Scope, resources: Listed): void {
    this.#scope = scope
    this.#shown = digest(resources)
    this.#watch(resources)
  }

  /** Something may have changed. */
  touch(): void {
    if (this.#shown === undefined || this.#timer !== undefined || this.#end.signal.aborted) return
    const wait = Math.max(SETTLE_MS, this.#looked + BETWEEN_MS - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#look().catch(error => this.#context.services.logger.debug({ error: String(error) }, 'resources were not looked at'))
    }, wait).unref()
  }

  /** A workspace is in use, maybe for the first time. */
  opened(id: string): void {
    if (!this.#watches.has(id)) this.touch()
  }

  close(): void {
    this.#end.abort()
    clearTimeout(this.#timer)
    for (const watch of this.#watches.values()) watch?.end()
    this.#watches.clear()
  }

  async #look(): Promise<void> {
    const scope = this.#scope
    if (scope === undefined) return
    this.#looked = performance.now()
    const resources = await this.#options.list(scope, this.#end.signal)
    if (this.#end.signal.aborted || scope !== this.#scope) return
    const now = digest(resources)
    const changed = now !== this.#shown
    this.#shown = now
    this.#watch(resources)
    if (changed) this.#options.changed()
  }

  #watch(resources: Listed): void {
    for (const { uri } of resources) {
      const id = /^workspace:\/\/([^/]+)$/.exec(String(uri))?.[1]
      const workspace = id === undefined ? undefined : this.#context.services.manager.opened(decodeURIComponent(id))
      if (workspace === undefined || workspace.lost || this.#watches.has(workspace.id)) continue
      if (this.#watches.size < MAX_WATCHED) this.#start(workspace)
      else
        this.#notice(
          `Only ${MAX_WATCHED} workspaces are watched for new files at their top: list the resources again to see those of the others.`,
        )
    }
  }

  #start({ id, info, watches }: Workspace): void {
    this.#watches.set(id, undefined)
    const watcher: Watcher = {
      changed: () => this.touch(),
      ended: () => {
        this.#watches.delete(id)
        this.touch()
      },
      noticed: notice => this.#notice(notice),
    }
    watches.start(info.workdir, watcher, { signal: this.#end.signal }).then(
      watch => {
        for (const notice of watch.notices) this.#notice(notice)
        if (this.#end.signal.aborted) watch.end()
        else this.#watches.set(id, watch)
      },
      error => {
        this.#watches.delete(id)
        if (this.#end.signal.aborted) return
        this.#notice(`New files in ${info.workdir} are not told of: ${toWorkspaceError(error).message}`)
      },
    )
  }

  /** Each is worth saying once. */
  #notice(notice: string): void {
    if (this.#told.has(notice) || this.#told.size >= MAX_NOTICES) return
    this.#told.add(notice)
    this.#context.log('warning', notice)
  }
}

/** What a client sees of the list, without sizes: they change with every write. */
function digest(resources: Listed): string {
  const seen = resources
    .filter(({ uri }) => String(uri).startsWith('workspace:'))
    .map(({ uri, name, title, description }) => [uri, name, title, description])
  return createHash('sha256').update(JSON.stringify(seen)).digest('base64')
}
