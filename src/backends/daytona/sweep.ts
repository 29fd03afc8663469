import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, Leftover } from '../backend.ts'
import { allSandboxes, refresh } from './look-up.ts'
import { recordOf } from './record.ts'
import { removeSandbox } from './remove.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'
import { DEFAULT_START_TIMEOUT_MS } from './settings.ts'
import { phaseOf, whyEnded } from './state.ts'

/** No host is at work on a sandbox that it has not handed out for longer, unless the operator allows more for a start. */
const KEPT_MS = 600_000

/**
 * Gives what hosts that never came back left, by label alone, and removes each unless `dryRun`: sandboxes that nobody was ever given, and
 * those whose image was not built. One that failed later may hold files, and stays.
 */
export async function* pruneSandboxes(
  context: DaytonaContext,
  { dryRun, signal }: CallOptions & { dryRun: boolean },
): AsyncIterable<Leftover> {
  for (const sandbox of await allSandboxes(context, {}, { signal })) {
    if (whyItGoes(context, sandbox) === undefined) continue
    try {
      // A host may have come to use it since it was listed.
      if (!(await refresh(context, sandbox, { signal }))) continue
      const reason = whyItGoes(context, sandbox)
      if (reason === undefined || (await isInUse(sandbox))) continue
      if (!dryRun) await removeSandbox(context, sandbox, { signal })
      yield { kind: 'sandbox', name: sandbox.name, action: 'remove', reason }
    } catch (error) {
      if (signal?.aborted) throw error
      context.logger.warn({ sandbox: sandbox.name, reason: toWorkspaceError(error).message }, 'not pruned')
    }
  }
}

/** `undefined`: it stays. */
function whyItGoes({ settings }: DaytonaContext, sandbox: Sandbox): string | undefined {
  const record = recordOf(sandbox.labels, settings.namespace)
  const phase = phaseOf(sandbox)
  if (record === undefined || phase === 'gone' || phase === 'coming' || phase === 'going') return undefined
  const made = [record.created, sandbox.createdAt ?? record.created].map(time => Date.parse(time))
  const keptMs = Math.max(KEPT_MS, 2 * (settings.startTimeoutMs ?? DEFAULT_START_TIMEOUT_MS))
  // What has no readable time counts as young.
  if (!(Date.now() - Math.max(...made) >= keptMs)) return undefined
  if (phase === 'unbuilt') return whyEnded(sandbox)
  return record.handedOut ? undefined : 'its making was broken off, and nobody was given it'
}

/** A terminal is what hosts work through. */
async function isInUse(sandbox: Sandbox): Promise<boolean> {
  return phaseOf(sandbox) === 'running' && (await sandbox.process.listPtySessions()).length > 0
}
