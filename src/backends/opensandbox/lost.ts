import { after, childController } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { openSandboxError } from './errors.ts'
import { inspect, type OpenSandboxContext } from './service.ts'
import type { Listed } from './state.ts'

/** A sandbox that does not answer for so long is looked at: a paused one never does. Ms. */
const LOOK_MS = 2_000

/** Why a sandbox can't be used as it is; `undefined` for one that runs. */
export function lostError(id: string, found: Listed | undefined): WorkspaceError | undefined {
  if (found === undefined) {
    return new WorkspaceError('environment_gone', `Sandbox ${id} was removed, and its files with it.`, {
      hint: 'Call again: a new, empty sandbox is made.',
    })
  }
  if (found.phase === 'paused' || found.phase === 'going') {
    return new WorkspaceError('environment_lost', `Sandbox ${id} was paused.`, {
      hint: 'Call again: it is resumed as it was, with all that runs in it.',
    })
  }
  if (found.phase !== 'failed') return undefined
  return new WorkspaceError('environment_gone', `Sandbox ${id} has failed: ${found.reason}.`, {
    hint: 'Call again: a new, empty sandbox is made. The failed one is left as it is.',
  })
}

/** What has become of a sandbox, by the server's own account. */
export async function whatBecame(context: OpenSandboxContext, id: string): Promise<WorkspaceError | undefined> {
  return lostError(id, await inspect(context, id))
}

/**
 * Runs something that needs the sandbox itself. A failure, or an answer that does not come, has the server asked before anyone is
 * blamed.
 */
export async function guarded<T>(
  context: OpenSandboxContext,
  id: string,
  run: (signal: AbortSignal) => Promise<T>,
  options: CallOptions = {},
): Promise<T> {
  const { controller, dispose } = childController(options.signal)
  const look = async (): Promise<void> => {
    const reason = await whatBecame(context, id).catch(() => undefined)
    if (reason !== undefined) controller.abort(reason)
  }
  const stop = after(LOOK_MS, () => void look())
  try {
    return await run(controller.signal)
  } catch (error) {
    const { reason } = controller.signal as { reason: unknown }
    if (reason instanceof WorkspaceError) throw reason
    const failure = openSandboxError(error, `Sandbox ${id}`, options)
    throw isAboutUs(failure) ? failure : ((await whatBecame(context, id).catch(() => undefined)) ?? failure)
  } finally {
    stop()
    dispose()
  }
}

function isAboutUs({ code }: WorkspaceError): boolean {
  return code === 'cancelled' || code === 'unauthenticated' || code === 'limit_exceeded'
}
