import type { Environment } from '../backends/backend.ts'
import { withDeadline } from '../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { GatewayClient } from '../link/gateway-client.ts'

/** An environment that is about to be let go, and the client of its gateway where there still is one. */
export interface Held {
  environment: Environment
  client: GatewayClient | undefined
}

/** A gateway that does not answer within this is treated as one that nobody can use. */
const ANSWER_MS = 10_000

/** Ends jobs and suspends; while another link is attached it only detaches. The host's handles are let go in any case. */
export async function closeHeld(held: Held, logger: Logger): Promise<string[]> {
  const { environment, client } = held
  try {
    const inUse = `Workspace "${environment.info.name}" is in use by another client: only detached, it goes on running.`
    if (client !== undefined && (await othersAttached(client, logger))) {
      await client.close('detach')
      return [inUse]
    }
    const { notices, others } = client === undefined ? { notices: [], others: 0 } : await endJobs(client, logger)
    // One that came while the jobs were ended has it now.
    return [...notices, ...(others > 0 ? [inUse] : await suspend(environment))]
  } finally {
    await environment[Symbol.asyncDispose]()
  }
}

/** Says goodbye and lets go; changes nothing inside beyond what the goodbye means. */
export async function detachHeld(held: Held, goodbye: 'end' | 'detach'): Promise<void> {
  try {
    await held.client?.close(goodbye)
  } finally {
    await held.environment[Symbol.asyncDispose]()
  }
}

/** Ends jobs, then removes the environment with its data. */
export async function destroyHeld(held: Held, logger: Logger): Promise<void> {
  const { environment, client } = held
  try {
    if (client !== undefined) await endJobs(client, logger)
    await environment.destroy()
  } finally {
    await environment[Symbol.asyncDispose]()
  }
}

/** Refuses to remove what Atelier did not make. */
export function assertRemovable({ info }: Pick<Environment, 'info'>): void {
  if (info.madeByAtelier) return
  throw new WorkspaceError(
    'permission_denied',
    `Workspace "${info.name}" works in ${info.workdir}, which Atelier did not make: not deleted.`,
    {
      hint: "Use reset to empty Atelier's own folders, or delete the directory yourself.",
    },
  )
}

async function othersAttached(client: GatewayClient, logger: Logger): Promise<boolean> {
  try {
    return (await withDeadline(client.call('info', {}), ANSWER_MS, 'Asking the gateway who is attached')).links > 1
  } catch (error) {
    logger.warn({ reason: toWorkspaceError(error).message }, 'gateway did not say who is attached')
    return false
  }
}

/** Ends jobs and says goodbye; `others`: hosts that are attached all the same. */
async function endJobs(client: GatewayClient, logger: Logger): Promise<{ notices: string[]; others: number }> {
  const running = await withDeadline(killRunning(client), ANSWER_MS, 'Ending jobs').catch(error => {
    logger.warn({ reason: toWorkspaceError(error).message }, 'jobs not ended one by one')
    return []
  })
  const notices = running.length === 0 ? [] : [`Running jobs were ended: ${running.join(', ')}.`]
  return { notices, others: await client.close('end') }
}

async function killRunning(client: GatewayClient): Promise<string[]> {
  const { jobs } = await client.call('job.list', {})
  const ids = jobs.filter(job => job.status === 'running').map(job => job.id)
  await Promise.allSettled(ids.map(id => client.call('job.kill', { id })))
  return ids
}

async function suspend(environment: Environment): Promise<string[]> {
  try {
    await environment.suspend()
    return []
  } catch (error) {
    if (toWorkspaceError(error).code !== 'environment_gone') throw error
    return [`Workspace "${environment.info.name}" was gone already.`]
  }
}
