const TASK = /^job:([^:]+):([^:]+)$/

/** The id of a job as a task: whoever may use the workspace finds it again, in another session too. */
export function taskIdOf(workspace: string, job: string): string {
  return `job:${workspace}:${job}`
}

/** The job that a task id means; undefined: it is none of ours. */
export function jobOfTask(taskId: unknown): { workspace: string; job: string } | undefined {
  const [, workspace, job] = (typeof taskId === 'string' && TASK.exec(taskId)) || []
  return workspace === undefined || job === undefined ? undefined : { workspace, job }
}
