import type { BackendName, EnvironmentInfo, ProvisionOptions } from '../backends/backend.ts'
import type { WorkspaceError } from '../lib/errors.ts'
import type { CreateRequest } from '../tools/workspace-directory.ts'
import type { WorkspaceLimits } from '../workspace/limits.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { OfferedDirectory } from './offered.ts'
import type { Scope } from './scope.ts'

/** A hold on one workspace: while it is held the workspace counts as busy. `release` is idempotent. */
export interface Lease extends Disposable {
  readonly workspace: Workspace
  release(): void
}

export interface Manager extends AsyncDisposable {
  /** Limits in force on a backend, for those who show them. */
  limitsOn?(backend: BackendName): WorkspaceLimits
  /** The workspace of `scope` (by policy), or the one named by `ref`. One build per id at a time, none across ids. */
  acquire(scope: Scope, request?: { ref?: string } & ProvisionOptions): Promise<Lease>
  create(scope: Scope, request: CreateRequest, options?: ProvisionOptions): Promise<{ lease: Lease; created: boolean }>
  list(scope: Scope, options?: { signal?: AbortSignal }): Promise<EnvironmentInfo[]>
  find(scope: Scope, ref: string, options?: { signal?: AbortSignal }): Promise<EnvironmentInfo>
  /** The id that `acquire(scope)` would use. */
  defaultId(scope: Scope): Promise<string>
  /** The open workspace of an id, if this process has it open. */
  opened(id: string): Workspace | undefined
  /** Resolves once a workspace that is being closed is; at once for any other. */
  closed?(id: string): Promise<void>
  /** Directories that a client offers to work in: from now on they are workspaces of its user, instead of those offered before. */
  offer?(scope: Scope, offered: readonly OfferedDirectory[]): Promise<void>
  close(scope: Scope, ref: string): Promise<{ info: EnvironmentInfo; notices: string[] }>
  /** Removes a workspace with its data. `unopened`: why it could not be opened just now, which is then not tried again. */
  destroy(scope: Scope, ref: string, options?: { unopened?: WorkspaceError | undefined }): Promise<EnvironmentInfo>
  /** Says goodbye to every open workspace. */
  [Symbol.asyncDispose](): Promise<void>
}
