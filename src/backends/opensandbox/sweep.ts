import type { CallOptions, Leftover } from '../backend.ts'
import { removeSandbox } from './create.ts'
import { pause } from './environment.ts'
import { isLeftBehind, isUnused, reasonText } from './losers.ts'
import { inspect, listSandboxes, type OpenSandboxContext } from './service.ts'
import type { Listed } from './state.ts'

type Prune = CallOptions & { dryRun: boolean }

/** Pauses what no host has used for its time, by label alone: the server itself ends nothing. What is in it stays. */
export async function pauseUnused(context: OpenSandboxContext): Promise<number> {
  let paused = 0
  for (const listed of await listSandboxes(context, { user: undefined })) {
    if (isUnused(listed) && (await pauseOne(context, listed, { dryRun: false }))) paused += 1
  }
  if (paused > 0) context.logger.info({ paused }, 'sandboxes that no host has used for long were paused')
  return paused
}

/** Gives what was left before anyone was given it and what is unused; removes the one and pauses the other unless `dryRun`. */
export async function* prune(context: OpenSandboxContext, options: Prune): AsyncIterable<Leftover> {
  const { dryRun, signal } = options
  for (const listed of await listSandboxes(context, { user: undefined }, { signal })) {
    const { sandboxId } = listed
    if (isUnused(listed)) {
      const reason = 'no host has used it for its time; its files stay'
      if (await pauseOne(context, listed, options)) yield { kind: 'sandbox', name: sandboxId, action: 'suspend', reason }
    } else if (isLeftBehind(listed)) {
      // A host may have taken it over since it was listed.
      const now = await inspect(context, sandboxId, { signal })
      if (now === undefined || !isLeftBehind(now)) continue
      if (!dryRun) await removeSandbox(context, sandboxId, { signal })
      const reason = 'its making was broken off, and nobody was given it'
      yield { kind: 'sandbox', name: sandboxId, action: 'remove', reason }
    }
  }
}

async function pauseOne(context: OpenSandboxContext, { sandboxId }: Listed, { dryRun, signal }: Prune): Promise<boolean> {
  try {
    if (!dryRun) await pause(context, sandboxId, { signal })
    return true
  } catch (error) {
    context.logger.debug({ sandbox: sandboxId, reason: reasonText(error) }, 'not paused')
    return false
  }
}
