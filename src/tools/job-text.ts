import type { JobInfo } from '../gateway/protocol.ts'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import type { Shell } from '../workspace/ports.ts'
import type { LogReference } from './tool.ts'

/** How a job stands: `running`, `exit code 0`, `ended by SIGTERM`, … */
export function jobState(job: JobInfo): string {
  switch (job.status) {
    case 'exited':
      return `exit code ${job.exitCode}`
    case 'signaled':
      return `ended by ${job.signal ?? 'a signal'}`
    case 'timed_out':
      return 'timed out and ended'
    case 'unknown':
      return 'ended, nobody saw how'
    case 'not_run':
      return 'not run'
    default:
      return job.status
  }
}

/** The log of a job that is over. */
export function endedLog({ status, log, bytes }: JobInfo): LogReference | undefined {
  return status === 'running' ? undefined : { path: log, bytes }
}

/** A job in one line. */
export function jobLine(job: JobInfo): string {
  const command = job.command.replace(/\s+/g, ' ')
  return `${job.id}: ${jobState(job)}: ${command.length > 80 ? `${[...command].slice(0, 79).join('')}…` : command}`
}

/** Runs a call on a job; one on an unknown job fails with a list of those that there are. */
export async function onJob<T>(shell: Shell, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (thrown) {
    const error = toWorkspaceError(thrown)
    if (error.code !== 'not_found') throw thrown
    const jobs = await shell.jobs()
    const known = jobs.length === 0 ? 'There are no jobs.' : ['The jobs are:', ...jobs.slice(-20).map(jobLine)].join('\n')
    throw new WorkspaceError('not_found', error.message, { hint: known, cause: thrown })
  }
}
