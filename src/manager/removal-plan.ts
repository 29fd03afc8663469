import { posix } from 'node:path'
import type { WorkspaceError } from '../lib/errors.ts'
import type { RemovalPlan, WorkspaceSummary } from '../tools/workspace-directory.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { describeSize, treeSize } from './tree-size.ts'

/** Atelier's own folders below a root, as a reset empties them. */
const OWN_FOLDERS = ['sessions', 'data', 'skills', '.mcp', '.atelier/jobs'] as const

/** What a reset takes: running jobs, Atelier's own folders; all other files stay. */
export async function resetPlan(workspace: Workspace, summary: WorkspaceSummary): Promise<RemovalPlan> {
  const { root } = workspace.info
  const removes = await runningJobs(workspace)
  for (const folder of OWN_FOLDERS) {
    const size = await treeSize(workspace.files, posix.join(root, folder))
    if (size !== undefined && size.files > 0) removes.push(`${posix.join(root, folder)} (${describeSize(size)})`)
  }
  removes.push("the shell's directory and exported variables of every session")
  return { summary, removes, keeps: [`all other files in ${workspace.info.workdir}`] }
}

/** What a deletion takes: the directory with all that is in it, and what runs there. */
export async function deletePlan(workspace: Workspace, summary: WorkspaceSummary): Promise<RemovalPlan> {
  const { workdir } = workspace.info
  const [jobs, size, { links }] = await Promise.all([
    runningJobs(workspace),
    treeSize(workspace.files, workdir),
    workspace.status(),
  ])
  const removes = [
    `${workdir} with everything in it (${size === undefined ? 'it is not there any more' : describeSize(size)})`,
    ...jobs,
  ]
  if (links > 1) removes.push(`the workspace of ${links - 1} other client${links === 2 ? '' : 's'} connected to it now`)
  return { summary, removes, keeps: [] }
}

/** What a deletion takes of one that can't be looked into. */
export function blindPlan(summary: WorkspaceSummary, why: WorkspaceError): RemovalPlan {
  const { workdir } = summary
  return { summary, removes: [`${workdir} with everything in it, which could not be looked at: ${why.message}`], keeps: [] }
}

async function runningJobs(workspace: Workspace): Promise<string[]> {
  const running = (await workspace.shell.jobs()).filter(job => job.status === 'running')
  return running.map(job => `running job ${job.id}: ${firstLine(job.command)}`)
}

function firstLine(command: string): string {
  const line = command.trim().split('\n', 1)[0] ?? ''
  return line.length > 100 ? `${line.slice(0, 100)}…` : line
}
