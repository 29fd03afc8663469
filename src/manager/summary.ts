import { statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import type { EnvironmentInfo } from '../backends/backend.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { WorkspaceSummary, WorkspaceUse } from '../tools/workspace-directory.ts'
import type { WorkspaceLimits } from '../workspace/limits.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** An environment as the `workspace_*` tools show it. */
export function summarize(info: EnvironmentInfo, current: boolean): WorkspaceSummary {
  const { id, name, backend, state, workdir, root, createdAt, madeByAtelier, details } = info
  const image = details.image
  return {
    id,
    name,
    backend,
    state,
    current,
    workdir,
    root,
    createdAt,
    madeByAtelier,
    details,
    ...(image === undefined ? {} : { image }),
  }
}

/** A gateway that is slower than this leaves a status without figures. */
const STATUS_MS = 5_000

/** What an open workspace uses; memory is its gateway's own where nothing better is known, and what can't be known is left out. */
export async function useOf(workspace: Workspace, limits: WorkspaceLimits | undefined): Promise<WorkspaceUse> {
  const asked = Promise.all([workspace.status(), workspace.shell.jobs()])
  const [status, jobs] = await withDeadline(asked, STATUS_MS, `The status of workspace ${workspace.info.name}`)
  const { jobs: jobsRunning, nested: serversRunning, rssBytes: memoryBytes } = status
  const use: WorkspaceUse = { jobsRunning, serversRunning, jobs, memoryBytes, limits: { ...limits } }
  if (workspace.info.backend === 'local') return { ...use, ...(await hostFigures(workspace.info.workdir)) }
  const measured = await withDeadline(workspace.usage?.() ?? Promise.resolve({}), STATUS_MS, `The use of ${workspace.info.name}`)
  return { ...use, ...measured }
}

async function hostFigures(workdir: string): Promise<Partial<WorkspaceUse>> {
  const memory = { memoryLimitBytes: totalmem() }
  try {
    const { bavail, bsize } = await statfs(workdir)
    return { ...memory, diskFreeBytes: bavail * bsize }
  } catch {
    // Not every file system tells; the figure is optional.
    return memory
  }
}
