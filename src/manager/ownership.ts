import type { EnvironmentInfo } from '../backends/backend.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { IsolationPolicy, Scope } from './scope.ts'

/** Whether a scope may use a workspace under the policy. A directory that the user already had belongs to all scopes of that user. */
export function mayUse(policy: IsolationPolicy, scope: Scope, info: EnvironmentInfo): boolean {
  const { user, agent, session } = info.owner
  if (user !== scope.user) return false
  if (!info.madeByAtelier || policy === 'per_user') return true
  return agent === scope.agent && (policy === 'per_agent' || session === scope.session)
}

/** The answer for a workspace that does not exist, and, word for word, for one of somebody else. */
export function noSuchWorkspace(ref: string, remarks: readonly string[] = []): WorkspaceError {
  return new WorkspaceError('not_found', [`There is no workspace ${JSON.stringify(ref)}.`, ...remarks].join('\n'), {
    hint: 'workspace_list shows what there is; workspace_use with "default" goes back to the default one.',
  })
}

/** Throws `permission_denied` for a directory that Atelier did not make. */
export function assertMadeByAtelier({ madeByAtelier, workdir }: EnvironmentInfo): void {
  if (madeByAtelier) return
  throw new WorkspaceError('permission_denied', `${workdir} is not deleted: it was there before Atelier.`, {
    hint: "workspace_reset empties Atelier's own folder for it; remove the directory itself by hand.",
  })
}

/**
 * Refuses several users of `local`, where all commands run as one user of the host: each of them where it is known that there are
 * several, else the second who comes.
 */
export function createSharingGuard({ allowed, several }: { allowed: boolean; several: boolean }): (user: string) => void {
  let first: string | undefined
  return user => {
    first ??= user
    if (allowed || (user === first && !several)) return
    const why = several ? 'this server has several users' : 'somebody else is using it'
    throw new WorkspaceError('permission_denied', `The backend local serves one user, and ${why}.`, {
      hint: 'All commands of local run as one user of the host. The operator can choose another backend, or allow sharing.',
    })
  }
}
