import { formatMs, sleep } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { isOpen, statusOf } from './errors.ts'
import { refresh } from './look-up.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'
import { brokenError, phaseOf } from './state.ts'

const LIMIT_MS = 60_000
const STEP_SECONDS = 10
const PAUSE_MS = 200
const CONFLICT = 409
const BAD_REQUEST = 400
const NOT_FOUND = 404

/** Stops a sandbox; its files stay. One that sleeps already is fine, one that is gone is `environment_gone`. */
export async function stopSandbox(context: DaytonaContext, sandbox: Sandbox, { signal }: CallOptions = {}): Promise<void> {
  for (const end = Date.now() + LIMIT_MS; ; ) {
    if (!(await refresh(context, sandbox, { signal })) || phaseOf(sandbox) === 'gone') {
      throw new WorkspaceError('environment_gone', `Sandbox ${sandbox.name} was deleted, and its files with it.`)
    }
    const phase = phaseOf(sandbox)
    if (phase === 'asleep') return
    if (phase === 'failed' || phase === 'unbuilt') throw brokenError(sandbox)
    if (Date.now() > end) {
      throw new WorkspaceError('timeout', `Sandbox ${sandbox.name} did not stop within ${formatMs(LIMIT_MS)}.`, {
        hint: `Its state is ${sandbox.state}. The service stops it when it was idle for a while.`,
      })
    }
    if (phase === 'running') await stop(context, sandbox, signal)
    else await sleep(PAUSE_MS, { signal })
  }
}

/** Asks for the stop. What the service refuses since it is just changing the sandbox is no failure: the state tells. */
async function stop({ calls, logger }: DaytonaContext, sandbox: Sandbox, signal: AbortSignal | undefined): Promise<void> {
  try {
    await calls.run(`Sandbox ${sandbox.name} was not stopped`, () => sandbox.stop(STEP_SECONDS), { signal })
  } catch (error) {
    const status = statusOf(error)
    const passing = status === CONFLICT || status === BAD_REQUEST || status === NOT_FOUND || isOpen(error)
    if (signal?.aborted || !passing) throw error
    logger.debug({ sandbox: sandbox.name, reason: toWorkspaceError(error).message }, 'stop to be looked at again')
    await sleep(PAUSE_MS, { signal })
  }
}
