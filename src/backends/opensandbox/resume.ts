import { sleep } from '../../lib/deadline.ts'
import type { CallOptions } from '../backend.ts'
import { waitUntilReady } from './create.ts'
import { openSandboxError } from './errors.ts'
import type { ExecdPlace } from './sdk.ts'
import { ask, inspect, type OpenSandboxContext } from './service.ts'
import type { Listed } from './state.ts'

const POLL_MS = 100
const PAUSING_MS = 30_000

/** Brings a sandbox that was found back to life, with what ran in it, and waits until it answers. */
export async function resume(context: OpenSandboxContext, found: Listed, options: CallOptions = {}): Promise<ExecdPlace> {
  const { sandboxId } = found
  let { phase } = found
  for (let waited = 0; phase === 'going' && waited < PAUSING_MS; waited += POLL_MS) {
    await sleep(POLL_MS, options)
    phase = (await inspect(context, sandboxId, options))?.phase ?? 'gone'
  }
  if (phase === 'paused') await wake(context, sandboxId, options)
  return waitUntilReady(context, sandboxId, options)
}

/** One that somebody else resumed meanwhile is fine. */
async function wake(context: OpenSandboxContext, id: string, options: CallOptions): Promise<void> {
  try {
    await ask(context, `Sandbox ${id} can't be resumed`, api => api.resumeSandbox(id), options)
  } catch (error) {
    const failure = openSandboxError(error, `Sandbox ${id}`, options)
    if (failure.code !== 'precondition_failed') throw failure
    const now = await inspect(context, id, options)
    if (now?.phase === 'paused') throw failure
  }
}
