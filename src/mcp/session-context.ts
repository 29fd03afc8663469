import type { EnvironmentInfo } from '../backends/backend.ts'
import type { Lease } from '../manager/manager.ts'
import type { Scope } from '../manager/scope.ts'
import type { NestedTools } from '../tools/nested-tools.ts'
import type { ToolAnswer, ToolContext } from '../tools/tool.ts'
import type { WorkspaceDirectory } from '../tools/workspace-directory.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { AskOptions } from './client-requests.ts'
import type { McpServices } from './mcp-services.ts'
import type { ClientFacts } from './nested/to-client.ts'
import { isObject } from './shape.ts'
import type { ToolDeclaration } from './tool-list.ts'

/** What one client session remembers of the workspaces. */
export interface SessionState {
  /** Id of the current workspace; absent: the scope's default one. */
  current?: string | undefined
  /** The client takes results of any size: none is offloaded. */
  largeResults?: boolean
}

/** The tools as the session uses them. */
export interface Toolbox {
  list(): Promise<readonly ToolDeclaration[]>
  /** An unknown name and wrong arguments are answers too; throws only for faults of Atelier itself. */
  run(name: string, args: Record<string, unknown>, context: ToolContext): Promise<ToolAnswer>
  /** Loads what the first call would load. */
  prepare?(): Promise<unknown>
}

/** What a session is made of besides its services; a test may hand in its own. */
export interface SessionParts {
  tools: Toolbox
  directory(scope: Scope, state: SessionState): WorkspaceDirectory
  instructions(info: EnvironmentInfo): string
}

export interface SessionContext {
  readonly services: McpServices
  readonly parts: SessionParts
  readonly scope: Scope
  /** Random key of shell state, read-state and read positions. */
  readonly key: string
  readonly state: SessionState
  /** Ids of the workspaces that know the key. */
  readonly used: Set<string>
  /** Questions that the client's user was asked and left open. */
  readonly leftOpen: Set<string>
  /** Told of each workspace that a request acquired. */
  onAcquired?(workspace: Workspace, scope: Scope): void
  /** The nested servers of an open workspace, for the tools about them. */
  nestedTools(workspace: Workspace, scope: Scope): Promise<NestedTools>
  /** Told when the nested servers of a workspace, or the state of one, are others. */
  onServers?(workspace: string): void
  /** Runs a listing of skills that the client is about to see, and tells it when they change afterwards. */
  showingSkills?<T>(scope: Scope, list: () => Promise<T>): Promise<T>
  /** The client is about to be shown these resources of workspaces, and is told when they are others. */
  showingResources?(scope: Scope, resources: readonly Record<string, unknown>[]): void
  /** Resolves when the client's roots, where they are asked for, are known. */
  rootsKnown?(): Promise<void>
  /** What the client said of itself. */
  client?: ClientFacts
  /** Asks the client; see `ClientRequests.ask`. */
  ask?(method: string, params: Record<string, unknown>, options: AskOptions): Promise<Record<string, unknown>>
  /** Sends a log message to the client, if it wants that level. */
  log(level: LogLevel, text: string, related?: number): void
}

export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The scope of one request: `_meta` may name agent and session where the connection left them open. */
export function scopeOf(context: SessionContext, params: Record<string, unknown>): Scope {
  const meta = isObject(params._meta) ? params._meta : {}
  const named = (key: string): string => (typeof meta[key] === 'string' ? (meta[key] as string) : '')
  const { user, agent, session } = context.scope
  return { user, agent: agent || named('atelier/agent'), session: session || named('atelier/session') }
}

/** Names the folder under `sessions/` of one request: the client's own session id, else the session's random key. */
export function conversationOf(context: SessionContext, params: Record<string, unknown>): string {
  return scopeOf(context, params).session || context.key
}

export interface AcquireOptions {
  /** Id or name; absent: the current workspace. */
  ref?: string | undefined
  signal: AbortSignal
  /** Hears what takes long while it is made. */
  onProgress?: ((sentence: string) => void) | undefined
}

/** Holds the named workspace, else the current one, else the scope's default. */
export async function acquire(context: SessionContext, scope: Scope, { ref, ...call }: AcquireOptions): Promise<Lease> {
  const wanted = ref ?? context.state.current
  const lease = await context.services.manager.acquire(scope, wanted === undefined ? call : { ref: wanted, ...call })
  context.used.add(lease.workspace.id)
  context.onAcquired?.(lease.workspace, scope)
  return lease
}

/** A state that tells when another workspace becomes the current one. */
export function watchedState(onCurrent: () => void): SessionState {
  let current: string | undefined
  return {
    get current() {
      return current
    },
    set current(id) {
      const changed = id !== current
      current = id
      if (changed) onCurrent()
    },
  }
}
