import type { BackendName, EnvironmentState, ProvisionOptions } from '../backends/backend.ts'
import type { JobInfo } from '../gateway/protocol.ts'

/** One workspace, as the `workspace_*` tools show it. */
export interface WorkspaceSummary {
  id: string
  name: string
  backend: BackendName
  state: EnvironmentState
  current: boolean
  workdir: string
  /** Where Atelier's own folders are (skills, sessions, data, jobs). */
  root: string
  createdAt: string
  madeByAtelier: boolean
  image?: string
  details: Record<string, string>
}

export interface WorkspaceUse {
  jobsRunning: number
  /** Nested MCP servers that run, of all agents. */
  serversRunning: number
  /** The jobs themselves, those that ended too. */
  jobs?: JobInfo[]
  /** Absent where the backend can't tell. */
  cpuPercent?: number
  memoryBytes?: number
  memoryLimitBytes?: number
  diskFreeBytes?: number
  /** Limits in force, by their configuration keys. */
  limits: Record<string, string | number>
}

export interface CreateRequest {
  name?: string
  backend?: BackendName
  image?: string
  profile?: string
  env?: Record<string, string>
}

/** What goes when a workspace is reset or deleted, said before it is done. */
export interface RemovalPlan {
  summary: WorkspaceSummary
  /** Sentences: folders, sizes, running jobs. */
  removes: string[]
  keeps: string[]
}

/**
 * Port for the `workspace_*` tools; the manager's side fills it for one client session. `ref` is an id or a name; absent
 * means the current workspace. Another owner's workspace answers `not_found`, as one that does not exist.
 */
export interface WorkspaceDirectory {
  create(request: CreateRequest, options?: ProvisionOptions): Promise<{ summary: WorkspaceSummary; created: boolean }>
  list(options?: { signal?: AbortSignal }): Promise<WorkspaceSummary[]>
  status(ref?: string, options?: { signal?: AbortSignal }): Promise<{ summary: WorkspaceSummary; use?: WorkspaceUse }>
  use(ref: string, options?: { signal?: AbortSignal }): Promise<WorkspaceSummary>
  planReset(ref?: string): Promise<RemovalPlan>
  reset(ref?: string, options?: { signal?: AbortSignal }): Promise<RemovalPlan>
  close(ref?: string, options?: { signal?: AbortSignal }): Promise<{ summary: WorkspaceSummary; notices: string[] }>
  planDelete(ref?: string): Promise<RemovalPlan>
  delete(ref?: string, options?: { signal?: AbortSignal }): Promise<RemovalPlan>
}
