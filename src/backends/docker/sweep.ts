import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, Leftover } from '../backend.ts'
import { abortable } from './abortable.ts'
import type { DockerContext } from './context.ts'
import { statusOf } from './errors.ts'
import { labelFilter, recordOf } from './record.ts'
import { inspectContainer } from './state.ts'

/** A container that ended by itself and holds no files is kept for this long, so that what was installed in it is found again. */
const KEPT_MS = 24 * 3_600_000
/** No chore takes longer. */
const HELPER_MS = 600_000

/** Removes what hosts that never came back left on the engine; gives how many containers went. */
export async function sweepContainers(context: DockerContext): Promise<number> {
  let removed = 0
  for await (const _ of pruneContainers(context, { dryRun: false })) removed += 1
  if (removed > 0) context.logger.info({ removed }, 'containers of hosts that did not come back were removed')
  return removed
}

/**
 * Gives what hosts that never came back left on the engine, by label alone, and removes each unless `dryRun`: containers that ended
 * by themselves long ago and whose files are elsewhere, and helpers. What holds files stays.
 */
export async function* pruneContainers(
  context: DockerContext,
  { dryRun, ...call }: CallOptions & { dryRun: boolean },
): AsyncIterable<Leftover> {
  const { engine, scope, logger } = context
  for (const { Id, keptMs, reason } of await candidates(context, call)) {
    const found = await inspectContainer(engine.docker, Id, call)
    if (found === undefined || ageMs(found.State.FinishedAt, found.Created) < keptMs) continue
    try {
      // Not by force: somebody may have started it since.
      if (!dryRun) await engine.docker.getContainer(Id).remove({ v: true, ...abortable(call.signal) })
    } catch (error) {
      if (statusOf(error) !== 404) logger.debug({ container: Id, scope, reason: toWorkspaceError(error).message }, 'not swept')
      continue
    }
    yield { kind: 'container', name: found.Name.replace(/^\//, ''), action: 'remove', reason }
  }
}

interface Candidate {
  Id: string
  keptMs: number
  reason: string
}

async function candidates({ engine, scope }: DockerContext, { signal }: CallOptions): Promise<Candidate[]> {
  const ended = { ...labelFilter(scope), status: ['created', 'exited', 'dead'] }
  const list = (filters: Record<string, string[]>) => engine.docker.listContainers({ all: true, filters, ...abortable(signal) })
  const workspaces = await list(ended)
  const helpers = await list(labelFilter(scope, { helper: true }))
  return [
    ...workspaces
      .filter(({ Labels }) => recordOf(Labels, scope)?.keep !== 'ephemeral')
      .map(({ Id }) => ({ Id, keptMs: KEPT_MS, reason: 'it ended more than a day ago, and its files are elsewhere' })),
    ...helpers.map(({ Id }) => ({ Id, keptMs: HELPER_MS, reason: 'it was for a chore that is long over' })),
  ]
}

/** The engine writes the year 1 for what never ended. */
function ageMs(finished: string, created: string): number {
  const at = finished.startsWith('0001') ? created : finished
  return Date.now() - Date.parse(at)
}
