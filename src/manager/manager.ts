import type { Backend, BackendName, EnvironmentInfo, EnvironmentSpec, ProvisionOptions } from '../backends/backend.ts'
import { withSignal } from '../lib/deadline.ts'
import { toWorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { CreateRequest } from '../tools/workspace-directory.ts'
import type { WorkspaceLimits } from '../workspace/limits.ts'
import type { NestedSettings } from '../workspace/nested-servers/nested-servers.ts'
import { SkillSeeds } from '../workspace/skills/skill-seeds.ts'
import { openWorkspace, type Workspace, type WorkspaceOptions } from '../workspace/workspace.ts'
import { checkDefaultRequest, checkRequest, checkSame } from './create-request.ts'
import { checkRef, checkScope, DEFAULT_NAME, freshName, isId, namedId } from './ids.ts'
import { createLookup, type Lookup, loadBackend, openBackends } from './lookup.ts'
import { OfferedDirectories, type OfferedDirectory, unopened } from './offered.ts'
import { type Ending, OpenWorkspaces } from './open-workspaces.ts'
import { assertMadeByAtelier, createSharingGuard, mayUse } from './ownership.ts'
import type { Lease, Manager } from './port.ts'
import type { IsolationPolicy, Scope } from './scope.ts'
import { given, type Target, Targets, targetOf } from './targets.ts'

export type { Lease, Manager } from './port.ts'

export interface ManagerOptions {
  backends: ReadonlyMap<BackendName, () => Promise<Backend>>
  defaultBackend: BackendName
  policy: IsolationPolicy
  /**
   * Host directory of the default workspace (`local`); absent: a named one in the data directory. With it, all scopes of one
   * user share that directory whatever the policy, since it is one place on disk; named workspaces stay apart.
   */
  directory?: string
  /** `workdir`: Atelier's own folders lie in that directory itself. */
  layout?: 'workdir'
  limits: WorkspaceLimits
  /** Where those of workspaces on `local` differ. */
  localLimits?: Partial<WorkspaceLimits>
  /** Initial environment of commands on `local`; other backends get none of it. */
  hostEnv: Record<string, string>
  env: Record<string, string>
  confine: 'workdir' | 'none'
  goodbye: 'end' | 'detach'
  /** An idle workspace is closed after this; a busy one never. */
  ttlMs: number
  /** However busy, closed after this; absent: never. */
  maxLifeMs?: number
  /** Images that an agent may name; absent: none but the default. */
  allowedImages?: readonly string[]
  /** `local` serves one user unless the operator allows more. */
  allowSharedLocal: boolean
  /** It is known that this server has several users; absent: the first who comes may be the only one. */
  severalUsers?: boolean
  /** Whether calls may use `local`, which is this host itself, where another backend is the default; absent: no. */
  allowLocal?: boolean
  /** Directories of skills that agents start with, beside those that came with Atelier. */
  skillPaths?: readonly string[]
  /** Nested servers that every scope begins with; absent: none. */
  nested?: NestedSettings
  /** Folder of this host for what environments get put in; absent: one in the temporary directory. */
  cacheDir?: string
  logger: Logger
  /** Called when a workspace is no more. */
  destroyed?: (id: string) => void
  /** Opens one workspace; absent: `openWorkspace`. */
  open?: typeof openWorkspace
}

/** A manager with nothing open; it touches no disk and no backend before the first call. */
export function createManager(options: ManagerOptions): Manager {
  return new ScopedWorkspaces(options)
}

type Call = ProvisionOptions

class ScopedWorkspaces implements Manager {
  readonly #options: ManagerOptions
  readonly #open: OpenWorkspaces
  readonly #lookup: Lookup
  readonly #admit: (user: string) => void
  readonly #targets: Targets
  readonly #seeds: SkillSeeds
  readonly #offered: OfferedDirectories

  constructor(options: ManagerOptions) {
    const { defaultBackend, policy, logger } = options
    const backends = openBackends(options)
    this.#options = { ...options, backends }
    this.#open = new OpenWorkspaces({ ttlMs: options.ttlMs, maxLifeMs: options.maxLifeMs }, logger)
    this.#targets = new Targets(options)
    this.#seeds = new SkillSeeds({ paths: options.skillPaths ?? [], logger })
    this.#offered = new OfferedDirectories(defaultBackend, logger)
    const serves = async (info: EnvironmentInfo) => this.#offered.serves(info) || this.#targets.serves(info)
    this.#lookup = createLookup({ backends, defaultBackend, policy, logger, serves })
    this.#admit = createSharingGuard({ allowed: options.allowSharedLocal, several: options.severalUsers === true })
  }

  limitsOn(backend: BackendName): WorkspaceLimits {
    const { limits, localLimits } = this.#options
    return backend === 'local' ? { ...limits, ...localLimits } : limits
  }

  async acquire(scope: Scope, request: { ref?: string } & Call = {}): Promise<Lease> {
    return this.#lease(await withSignal(this.#target(scope, request), request.signal), request)
  }

  async create(scope: Scope, request: CreateRequest, call: Call = {}): Promise<{ lease: Lease; created: boolean }> {
    checkScope(scope)
    const { defaultBackend, backends, allowedImages } = this.#options
    // An empty name or backend means "not given", as an empty id does.
    const backend = request.backend || defaultBackend
    const name = request.name || freshName()
    checkRequest({ ...request, name }, backend, allowedImages)
    const isDefault = name === DEFAULT_NAME && backend === defaultBackend
    if (isDefault) checkDefaultRequest(request)
    const target = isDefault ? await this.#targets.default(scope) : this.#targets.named(scope, backend, name)
    const { image, profile, env } = request
    const existing = await (await loadBackend(backends, backend)).find(target.spec.id, call)
    if (existing !== undefined) checkSame(existing, request)
    else Object.assign(target.spec, given({ image, profile, env }))
    return { lease: await this.#lease(target, call), created: existing === undefined }
  }

  async list(scope: Scope, call: Call = {}): Promise<EnvironmentInfo[]> {
    checkScope(scope)
    return this.#offered.shown(scope, await this.#lookup.all(scope, call))
  }

  async find(scope: Scope, ref: string, call: Call = {}): Promise<EnvironmentInfo> {
    const wanted = ref || DEFAULT_NAME
    checkScope(scope)
    checkRef(wanted)
    const ownDefault = wanted === DEFAULT_NAME ? await this.defaultId(scope) : wanted
    const offered = this.#offered.find(scope, wanted)
    try {
      const ref = offered?.spec.id ?? ownDefault
      return this.#offered.named(await withSignal(this.#lookup.one(scope, ref, call), call.signal))
    } catch (error) {
      const open = this.#openOne(scope, ownDefault)
      if (offered !== undefined && toWorkspaceError(error).code === 'not_found') return unopened(offered)
      if (open === undefined || toWorkspaceError(error).code !== 'not_found') throw error
      // What somebody removed behind our back must still be closed.
      return { ...open.info, state: 'gone' }
    }
  }

  async defaultId(scope: Scope): Promise<string> {
    return (await this.#targets.default(scope)).spec.id
  }

  opened(id: string): Workspace | undefined {
    return this.#open.get(id)
  }

  closed(id: string): Promise<void> {
    return this.#open.closed(id)
  }

  async offer(scope: Scope, offered: readonly OfferedDirectory[]): Promise<void> {
    await this.#offered.set(scope, offered, await this.defaultId(scope))
  }

  async close(scope: Scope, ref: string): Promise<{ info: EnvironmentInfo; notices: string[] }> {
    const info = await this.find(scope, ref)
    if (this.#open.get(info.id) === undefined && info.state !== 'running') {
      return { info, notices: [`Workspace ${JSON.stringify(info.name)} was not running.`] }
    }
    const { notices } = await this.#endOpen(targetOf(info), { how: workspace => workspace.close() })
    return { info: (await this.#lookup.byId(info.backend, info.id)) ?? { ...info, state: 'gone' }, notices }
  }

  async destroy(scope: Scope, ref: string, { unopened }: { unopened?: unknown } = {}): Promise<EnvironmentInfo> {
    const info = await this.find(scope, ref)
    assertMadeByAtelier(info)
    const remove = (why: unknown): Promise<void> => this.#removeUnopened(info, why)
    if (unopened !== undefined && this.#open.get(info.id) === undefined) await remove(unopened)
    else await this.#endOpen(targetOf(info), { how: workspace => workspace.destroy(), unopened: remove })
    this.#options.destroyed?.(info.id)
    return { ...info, state: 'gone' }
  }

  /** What can't be opened any more is removed as it lies, where its backend can do that. */
  async #removeUnopened(info: EnvironmentInfo, why: unknown): Promise<void> {
    const backend = await loadBackend(this.#options.backends, info.backend)
    if (backend.remove === undefined) throw why
    await backend.remove(info)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#open.endAll()
  }

  /** Ends a workspace by way of an open one, so that nobody opens it meanwhile. */
  async #endOpen<T>(target: Target, { how, unopened }: Ending<T>): Promise<T> {
    for (;;) {
      let lease: Lease
      try {
        lease = await this.#lease(target)
      } catch (error) {
        if (unopened === undefined) throw error
        return unopened(error)
      }
      lease.release()
      const ended = await this.#open.end(lease.workspace, how)
      if (ended !== undefined) return ended.result
    }
  }

  async #lease(target: Target, { signal, onProgress }: Call = {}): Promise<Lease> {
    if (target.backend === 'local') this.#admit(target.spec.owner.user)
    const { workspace, release } = await this.#open.hold(target.spec.id, tell => this.#build(target, tell), {
      signal,
      onProgress,
    })
    return { workspace, release, [Symbol.dispose]: release }
  }

  async #build({ backend, spec }: Target, onProgress: (sentence: string) => void): Promise<Workspace> {
    const { hostEnv, env, backends, open = openWorkspace } = this.#options
    const all = { ...(backend === 'local' ? hostEnv : {}), ...env, ...spec.env }
    const options = { ...this.#workspaceOptions(spec, all), limits: this.limitsOn(backend), onProgress }
    return open(await loadBackend(backends, backend), spec, options)
  }

  #workspaceOptions(spec: EnvironmentSpec, env: Record<string, string>): Omit<WorkspaceOptions, 'limits'> {
    const { confine, goodbye, logger, nested, cacheDir } = this.#options
    const swept = this.#open.takeSweepNote(spec.id)
    const notices = swept === undefined ? [] : [`Workspace ${JSON.stringify(spec.name)} ${swept}`]
    const owner = `${goodbye === 'end' ? 'session' : 'server'}:${spec.owner.user}`
    const log = logger.child({ workspace: spec.id })
    return { env, owner, confine, goodbye, notices, nested, cacheDir, seeds: this.#seeds, logger: log }
  }

  async #target(scope: Scope, { ref = '', signal }: { ref?: string } & Call): Promise<Target> {
    checkScope(scope)
    if (ref === '' || ref === DEFAULT_NAME) return this.#targets.default(scope)
    checkRef(ref)
    const open = this.#openOne(scope, ref)
    if (open !== undefined) return targetOf(open.info)
    const offered = this.#offered.find(scope, ref)
    if (offered !== undefined) return offered
    const ownDefault = await this.#targets.default(scope)
    // It may be named by its id before it was made.
    return ref === ownDefault.spec.id ? ownDefault : targetOf(await this.#lookup.one(scope, ref, { signal }))
  }

  /** The open workspace of an id or name, if the scope may use it. */
  #openOne(scope: Scope, ref: string): Workspace | undefined {
    const { policy, defaultBackend } = this.#options
    const open = this.#open.get(isId(ref) ? ref : namedId(policy, defaultBackend, scope, ref))
    return open !== undefined && mayUse(policy, scope, open.info) ? open : undefined
  }
}
