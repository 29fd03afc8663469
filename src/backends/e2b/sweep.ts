import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, Leftover } from '../backend.ts'
import { removeSandbox } from './create.ts'
import { isEmpty, lookInside } from './losers.ts'
import { inOrder, type Listed } from './record.ts'
import { ask, type E2bContext, listSandboxes } from './service.ts'

/** No host is at work on a sandbox that it has not handed out for longer, by its clock and the service's. */
const KEPT_MS = 600_000
/** A sandbox that was never resumed started when it was made, as far as the two clocks agree. */
const SAME_MS = 120_000

type Prune = CallOptions & { dryRun: boolean }

/**
 * Gives what hosts that never came back left, by metadata alone, and removes each unless `dryRun`: empty sandboxes of workspaces that have
 * an earlier one, and those that nobody was ever given. To look into a paused one it is resumed, and paused again.
 */
export async function* pruneSandboxes(context: E2bContext, options: Prune): AsyncIterable<Leftover> {
  for (const group of byWorkspace(await listSandboxes(context, { user: undefined }, options))) {
    if (group.some(isYoung)) continue
    const [first, ...losers] = group.sort(inOrder)
    if (first === undefined) continue
    for (const loser of losers) {
      const found = {
        reason: 'another sandbox of its workspace came first, and it is empty',
        goes: () => isEmpty(context, loser),
      }
      yield* pruneOne(context, loser, { ...options, ...found })
    }
    // What was resumed once was handed out.
    if (losers.length > 0 || first.startedAt.getTime() - Date.parse(first.record.created) > SAME_MS) continue
    const goes = async () => Object.values(await lookInside(context, first)).every(there => !there)
    yield* pruneOne(context, first, { ...options, reason: 'its making was broken off, and nobody was given it', goes })
  }
}

function byWorkspace(all: readonly Listed[]): Listed[][] {
  const groups = new Map<string, Listed[]>()
  for (const listed of all) {
    const key = `${listed.record.owner.user}\0${listed.record.id}`
    groups.set(key, [...(groups.get(key) ?? []), listed])
  }
  return [...groups.values()]
}

/** Whether a host may still be at work on it: nobody makes what is paused. What has no readable time counts as young. */
function isYoung({ state, startedAt, record }: Listed): boolean {
  const made = Date.parse(record.created)
  const since = state === 'paused' ? made : Math.max(made, startedAt.getTime())
  return !(Date.now() - since >= KEPT_MS)
}

interface Case extends Prune {
  goes(): Promise<boolean>
  reason: string
}

async function* pruneOne(
  context: E2bContext,
  { sandboxId, state }: Listed,
  { goes, reason, dryRun, signal }: Case,
): AsyncIterable<Leftover> {
  try {
    const isLeft = await goes()
    if (isLeft && !dryRun) await removeSandbox(context, sandboxId, { signal })
    else if (state === 'paused') await ask(`Sandbox ${sandboxId}`, () => context.sandboxes.pause(sandboxId))
    if (isLeft) yield { kind: 'sandbox', name: sandboxId, action: 'remove', reason }
  } catch (error) {
    if (signal?.aborted) throw error
    const { code, message } = toWorkspaceError(error)
    if (code !== 'environment_gone') context.logger.warn({ sandbox: sandboxId, reason: message }, 'not pruned')
  }
}
