import type { BackendName } from '../backends/backend.ts'
import type { DaytonaSettings } from '../backends/daytona/settings.ts'
import type { E2bSettings } from '../backends/e2b/settings.ts'
import type { KubernetesSettings } from '../backends/kubernetes/settings.ts'
import type { OpenSandboxSettings } from '../backends/opensandbox/settings.ts'
import { WorkspaceError } from '../lib/errors.ts'
import { createManager, type Lease, type Manager } from '../manager/manager.ts'
import type { IsolationPolicy, Scope } from '../manager/scope.ts'
import { given } from '../manager/targets.ts'
import type { CreateRequest } from '../tools/workspace-directory.ts'
import { type CommonOptions, managerParts, pathOf, type ReadDefaults } from './defaults.ts'
import type { DockerOptions } from './docker-workspace.ts'
import { SINGLE_USER } from './open-single.ts'
import { WorkspaceHandle } from './workspace-handle.ts'

export interface WorkspaceManagerOptions extends CommonOptions {
  /** Default: `local`. */
  backend?: BackendName
  /** Who shares a default workspace; default: `per_agent`. */
  policy?: IsolationPolicy
  /** A directory of yours as everybody's default workspace. */
  directory?: string | URL
  /** `workdir`: Atelier's own folders lie in `directory` itself. So a workspace of AgentScope is opened. */
  layout?: 'workdir'
  /** An idle workspace is closed after this, in ms, and opened again by the next call; default: half an hour. */
  ttlMs?: number
  /** However busy, closed after this, in ms; default: never. */
  maxLifeMs?: number
  allowedImages?: readonly string[]
  /** Engine, image and profiles of the backend `docker`. */
  docker?: DockerOptions
  /** Settings of the other backends, as in the configuration. */
  e2b?: E2bSettings
  daytona?: DaytonaSettings
  kubernetes?: KubernetesSettings
  opensandbox?: OpenSandboxSettings
  /** Lets several users share `local`, where all commands run as one user of the host. */
  allowSharedLocal?: boolean
  /** Opens `local`, which is this host itself, where `backend` is another one; default: no. */
  allowLocal?: boolean
}

/** Who asks; what is left out is unnamed, and an unnamed user is the host's single one. */
export type Asker = Partial<Scope>

const TTL_MS = 1_800_000

/** Workspaces of many users, agents and sessions: which one a scope gets, and for how long it stays open. */
export class WorkspaceManager implements AsyncDisposable {
  readonly #make: () => Parts
  readonly #handles = new Map<string, Set<WorkspaceHandle>>()
  #parts: Parts | undefined

  constructor(options: WorkspaceManagerOptions, read: ReadDefaults) {
    this.#make = () => makeParts(options, read)
  }

  /** The workspace of a scope by the policy, or the one with the id or name `workspace`; initialized. */
  getWorkspace({ workspace, ...asker }: Asker & { workspace?: string } = {}): Promise<WorkspaceHandle> {
    const scope = scopeOf(asker)
    return this.#handle(scope, manager => manager.acquire(scope, workspace === undefined ? {} : { ref: workspace }))
  }

  /** A workspace by its name, made when there is none; without a name always a new one. */
  createWorkspace({ user, agent, session, ...request }: Asker & CreateRequest = {}): Promise<WorkspaceHandle> {
    const scope = scopeOf({ user, agent, session })
    return this.#handle(scope, async manager => (await manager.create(scope, request)).lease)
  }

  /** Closes a workspace that was handed out, by its id: jobs end, files stay. Throws `not_found` for any other. */
  async close(id: string): Promise<void> {
    const handles = this.#handles.get(id)
    if (handles === undefined) throw new WorkspaceError('not_found', `No workspace ${JSON.stringify(id)} was handed out.`)
    await Promise.all([...handles].map(handle => handle.close()))
  }

  /** Closes all that were handed out, at the same time. Rejects after the last with what went wrong. */
  async closeAll(): Promise<void> {
    const results = await Promise.allSettled([...this.#handles.keys()].map(id => this.close(id)))
    const failed = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
    if (failed.length > 0)
      throw failed.length === 1 ? failed[0] : new AggregateError(failed, `${failed.length} workspaces were not closed.`)
  }

  /** `closeAll`, then lets go of everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.closeAll()
    } finally {
      await this.#parts?.manager[Symbol.asyncDispose]()
      this.#parts = undefined
    }
  }

  async #handle(scope: Scope, acquire: (manager: Manager) => Promise<Lease>): Promise<WorkspaceHandle> {
    this.#parts ??= this.#make()
    const parts = this.#parts
    let id = ''
    const handle = new WorkspaceHandle(async () => {
      using lease = await acquire(parts.manager)
      const { info } = lease.workspace
      id = info.id
      return { ...parts, info, scope, dispose: async () => this.#forget(id, handle) }
    })
    await handle.initialize()
    const handles = this.#handles.get(id) ?? new Set()
    this.#handles.set(id, handles.add(handle))
    return handle
  }

  #forget(id: string, handle: WorkspaceHandle): void {
    const handles = this.#handles.get(id)
    handles?.delete(handle)
    if (handles?.size === 0) this.#handles.delete(id)
  }
}

type Parts = ReturnType<typeof makeParts>

function makeParts(options: WorkspaceManagerOptions, read: ReadDefaults) {
  const {
    backend = 'local',
    policy = 'per_agent',
    directory,
    layout,
    ttlMs = TTL_MS,
    allowSharedLocal = false,
    allowLocal = false,
    maxLifeMs,
    allowedImages,
    docker,
    e2b,
    daytona,
    kubernetes,
    opensandbox,
  } = options
  const settings = { [backend]: {}, ...given({ docker, e2b, daytona, kubernetes, opensandbox }) }
  const parts = managerParts(options, read, settings)
  const manager = createManager({
    ...parts,
    defaultBackend: backend,
    policy,
    ttlMs,
    allowSharedLocal,
    allowLocal,
    ...(directory === undefined ? {} : { directory: pathOf(directory) }),
    ...(layout === undefined ? {} : { layout }),
    ...(maxLifeMs === undefined ? {} : { maxLifeMs }),
    ...(allowedImages === undefined ? {} : { allowedImages }),
  })
  return { manager, limits: parts.limits, logger: parts.logger }
}

function scopeOf({ user, agent, session }: { [K in keyof Scope]?: string | undefined }): Scope {
  return { user: user || SINGLE_USER, agent: agent ?? '', session: session ?? '' }
}
