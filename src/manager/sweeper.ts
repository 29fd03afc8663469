import { toWorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { OpenEntry } from './open-entry.ts'

/** How long workspaces stay open, in ms. `Infinity` and an absent `maxLifeMs` mean: for ever. */
export interface Bounds {
  ttlMs: number
  maxLifeMs?: number | undefined
}

export interface Sweeper {
  /** Looks at the workspaces now and then until `stop`; never holds the process. Idempotent. */
  start(): void
  stop(): void
}

export interface SweeperOptions {
  logger: Logger
  close(entry: OpenEntry, why: string): Promise<unknown>
}

const SHORTEST_MS = 20
const LONGEST_MS = 60_000

/**
 * Closes workspaces that were idle for `ttlMs` and those older than `maxLifeMs`.
 * A workspace with leases, calls in flight or running jobs is busy, and only `maxLifeMs` closes it.
 */
export function createSweeper(entries: ReadonlyMap<string, OpenEntry>, bounds: Bounds, options: SweeperOptions): Sweeper {
  const { logger } = options
  const everyMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, Math.min(bounds.ttlMs, bounds.maxLifeMs ?? Infinity) / 4))
  let timer: NodeJS.Timeout | undefined

  const visit = async (entry: OpenEntry) => {
    const { workspace } = entry
    if (workspace === undefined || entry.closing !== undefined) return
    const tooOld = performance.now() - entry.openedAt >= (bounds.maxLifeMs ?? Infinity)
    if (!tooOld && !(await isIdle(entry, workspace, bounds.ttlMs))) return
    // Somebody may have come while the workspace was asked.
    if (entry.closing !== undefined || (!tooOld && entry.leases > 0)) return
    const why = tooOld ? 'its maximum life was over' : 'it was idle'
    logger.info({ workspace: entry.id, why }, 'workspace closed')
    await options.close(entry, why)
  }
  const sweep = async () => {
    await Promise.all(
      [...entries.values()].map(entry =>
        visit(entry).catch(error =>
          logger.warn({ workspace: entry.id, reason: toWorkspaceError(error).message }, 'sweep failed'),
        ),
      ),
    )
    // Rearmed after each round, so that a slow one never overlaps the next.
    if (timer !== undefined) arm()
  }
  const arm = () => {
    timer = setTimeout(sweep, everyMs)
    timer.unref()
  }
  return {
    start() {
      if (timer === undefined) arm()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** Whether nothing happened in a workspace for `ttlMs` and nothing runs there. What runs starts the time again. */
async function isIdle(entry: OpenEntry, workspace: Workspace, ttlMs: number): Promise<boolean> {
  if (workspace.inFlight > 0) entry.usedAt = performance.now()
  const quiet = () => entry.leases === 0 && workspace.inFlight === 0 && performance.now() - entry.usedAt >= ttlMs
  if (!quiet()) return false
  if ((await runningCommands(workspace)) > 0) entry.usedAt = performance.now()
  return quiet()
}

async function runningCommands(workspace: Workspace): Promise<number> {
  try {
    const { jobs, running } = await workspace.status()
    return jobs + running
  } catch (error) {
    const { code } = toWorkspaceError(error)
    if (code === 'environment_lost' || code === 'environment_gone') return 0
    throw error
  }
}
