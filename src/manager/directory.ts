import type { EnvironmentInfo, ProvisionOptions } from '../backends/backend.ts'
import { toWorkspaceError, type WorkspaceError } from '../lib/errors.ts'
import type {
  CreateRequest,
  RemovalPlan,
  WorkspaceDirectory,
  WorkspaceSummary,
  WorkspaceUse,
} from '../tools/workspace-directory.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { DEFAULT_NAME } from './ids.ts'
import type { Manager } from './manager.ts'
import { assertMadeByAtelier } from './ownership.ts'
import { blindPlan, deletePlan, resetPlan } from './removal-plan.ts'
import type { Scope } from './scope.ts'
import { summarize, useOf } from './summary.ts'

/** What one client session remembers: the id of its current workspace; absent, the scope's default one. */
export interface DirectoryState {
  current?: string | undefined
}

type Call = { signal?: AbortSignal }

/** The `workspace_*` tools' view of the manager for one client session. It holds nothing open between calls. */
export function createWorkspaceDirectory(manager: Manager, scope: Scope, state: DirectoryState): WorkspaceDirectory {
  return new SessionDirectory(manager, scope, state)
}

class SessionDirectory implements WorkspaceDirectory {
  readonly #manager: Manager
  readonly #scope: Scope
  readonly #state: DirectoryState

  constructor(manager: Manager, scope: Scope, state: DirectoryState) {
    this.#manager = manager
    this.#scope = scope
    this.#state = state
  }

  async create(request: CreateRequest, call?: ProvisionOptions): Promise<{ summary: WorkspaceSummary; created: boolean }> {
    const { lease, created } = await this.#manager.create(this.#scope, request, call)
    using _held = lease
    this.#state.current = lease.workspace.id
    return { summary: this.#shown(lease.workspace.info, true), created }
  }

  async list(call?: Call): Promise<WorkspaceSummary[]> {
    const [infos, current] = await Promise.all([this.#manager.list(this.#scope, call), this.#currentId()])
    return infos.map(info => this.#shown(info, info.id === current))
  }

  async status(ref?: string, call?: Call): Promise<{ summary: WorkspaceSummary; use?: WorkspaceUse }> {
    // The current workspace may not have been needed yet; asking for its status makes it.
    const info = ref ? await this.#manager.find(this.#scope, ref, call) : await this.#hold(ref, async ({ info }) => info, call)
    const summary = await this.#summary(info.id, call)
    const open = this.#manager.opened(info.id)
    return open === undefined ? { summary } : { summary, use: await useOf(open, this.#manager.limitsOn?.(info.backend)) }
  }

  async use(ref: string, call?: Call): Promise<WorkspaceSummary> {
    const id =
      ref === DEFAULT_NAME ? await this.#manager.defaultId(this.#scope) : (await this.#manager.find(this.#scope, ref, call)).id
    const summary = await this.#hold(id, ({ info }) => this.#summary(info.id, call), call)
    this.#state.current = id
    return { ...summary, current: true }
  }

  planReset(ref?: string): Promise<RemovalPlan> {
    return this.#hold(ref, async workspace => resetPlan(workspace, await this.#summary(workspace.id)))
  }

  reset(ref?: string, call?: Call): Promise<RemovalPlan> {
    return this.#hold(
      ref,
      async workspace => {
        const plan = await resetPlan(workspace, await this.#summary(workspace.id, call))
        await workspace.reset()
        return plan
      },
      call,
    )
  }

  async close(ref?: string, call?: Call): Promise<{ summary: WorkspaceSummary; notices: string[] }> {
    const info = await this.#manager.find(this.#scope, ref || (await this.#currentId()), call)
    const closed = await this.#manager.close(this.#scope, info.id)
    return { summary: summarize(closed.info, info.id === (await this.#currentId())), notices: closed.notices }
  }

  async planDelete(ref?: string): Promise<RemovalPlan> {
    const { unopened: _, ...plan } = await this.#planDelete(await this.#removable(ref))
    return plan
  }

  async delete(ref?: string, call?: Call): Promise<RemovalPlan> {
    const id = await this.#removable(ref, call)
    const { unopened, ...plan } = await this.#planDelete(id, call)
    await this.#manager.destroy(this.#scope, id, { unopened })
    if (this.#state.current === id) this.#state.current = undefined
    return { ...plan, summary: { ...plan.summary, state: 'gone', current: false } }
  }

  /** One that can't be opened any more can still be removed. */
  async #planDelete(id: string, call?: Call): Promise<RemovalPlan & { unopened?: WorkspaceError }> {
    try {
      return await this.#hold(id, async workspace => deletePlan(workspace, await this.#summary(id, call)), call)
    } catch (error) {
      const unopened = toWorkspaceError(error)
      if (unopened.code === 'cancelled') throw unopened
      return { ...blindPlan(await this.#summary(id, call), unopened), unopened }
    }
  }

  /** Id of a workspace that Atelier made; refuses any other before anything is said of removing it. */
  async #removable(ref?: string, call?: Call): Promise<string> {
    const info = await this.#manager.find(this.#scope, ref || (await this.#currentId()), call)
    assertMadeByAtelier(info)
    return info.id
  }

  async #currentId(): Promise<string> {
    return this.#state.current ?? (await this.#manager.defaultId(this.#scope))
  }

  /** The summary as of now; what an open workspace knows of itself is as old as its opening. */
  async #summary(id: string, call?: Call): Promise<WorkspaceSummary> {
    return this.#shown(await this.#manager.find(this.#scope, id, call), id === (await this.#currentId()))
  }

  /** The gateway of a directory that was just opened is on its way. */
  #shown(info: EnvironmentInfo, current: boolean): WorkspaceSummary {
    const starting = info.backend === 'local' && info.state === 'suspended' && this.#manager.opened(info.id) !== undefined
    return summarize(starting ? { ...info, state: 'running' } : info, current)
  }

  async #hold<T>(ref: string | undefined, run: (workspace: Workspace) => Promise<T>, call?: Call): Promise<T> {
    using lease = await this.#manager.acquire(this.#scope, { ref: ref || (await this.#currentId()), ...call })
    return await run(lease.workspace)
  }
}
