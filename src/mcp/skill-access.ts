import type { Scope } from '../manager/scope.ts'
import type { Skill } from '../workspace/skills/port.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { acquire, type SessionContext } from './session-context.ts'

/** The current workspace of a scope, if it is open here; nothing is started for it. */
export async function openedCurrent(context: SessionContext, scope: Scope): Promise<Workspace | undefined> {
  const { manager } = context.services
  const workspace = manager.opened(context.state.current ?? (await manager.defaultId(scope)))
  return workspace?.lost ? undefined : workspace
}

/** The skills to show in a list: those of the current workspace where it is open. What goes wrong is logged and hides nothing else. */
export async function shownSkills(context: SessionContext, scope: Scope, signal?: AbortSignal): Promise<readonly Skill[]> {
  const list = async (): Promise<readonly Skill[]> => {
    const workspace = await openedCurrent(context, scope)
    return workspace === undefined ? [] : (await workspace.skills.list(scope.agent, { signal })).skills
  }
  try {
    return await (context.showingSkills?.(scope, list) ?? list())
  } catch (error) {
    context.services.logger.warn({ error: String(error) }, 'skills could not be listed')
    return []
  }
}

/** Runs `task` on the current workspace and its skills; the workspace is opened for it. */
export async function withSkills<T>(
  context: SessionContext,
  { scope, signal }: { scope: Scope; signal: AbortSignal },
  task: (workspace: Workspace, skills: readonly Skill[]) => Promise<T>,
): Promise<T> {
  using lease = await acquire(context, scope, { signal })
  const { workspace } = lease
  const list = async (): Promise<readonly Skill[]> => (await workspace.skills.list(scope.agent, { signal })).skills
  return task(workspace, await (context.showingSkills?.(scope, list) ?? list()))
}
