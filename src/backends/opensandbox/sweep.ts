import type { CallOptions, Leftover } from '../backend.ts'
import { removeSandbox } from './create.ts'
import { pause } from './environment.ts'
import { isLeftBehind, isUnused, reasonText } from './losers.ts'
import { listSandboxes, type OpenSandboxContext } from './service.ts'

/** Pauses what no host has used for its time, by label alone: the server itself ends nothing. What is in it stays. */
export async function pauseUnused(context: OpenSandboxContext, options: CallOptions = {}): Promise<number> {
  let paused = 0
  for (const { sandboxId, ...listed } of await listSandboxes(context, { user: undefined }, options)) {
    if (!isUnused({ sandboxId, ...listed })) continue
    try {
      await pause(context, sandboxId, options)
      paused += 1
    } catch (error) {
      context.logger.debug({ sandbox: sandboxId, reason: reasonText(error) }, 'not paused')
    }
  }
  if (paused > 0) context.logger.info({ paused }, 'sandboxes that no host has used for long were paused')
  return paused
}

/** Removes sandboxes that were left before anyone was given them, and pauses what is unused. */
export async function* prune(
  context: OpenSandboxContext,
  { dryRun, signal }: CallOptions & { dryRun: boolean },
): AsyncIterable<Leftover> {
  if (!dryRun) await pauseUnused(context, { signal })
  for (const listed of await listSandboxes(context, { user: undefined }, { signal })) {
    if (!isLeftBehind(listed)) continue
    if (!dryRun) await removeSandbox(context, listed.sandboxId, { signal })
    yield { kind: 'sandbox', name: listed.sandboxId, reason: 'its making was broken off, and nobody was given it' }
  }
}
