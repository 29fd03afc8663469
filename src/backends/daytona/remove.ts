import { sleep } from '../../lib/deadline.ts'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { isOpen, statusOf } from './errors.ts'
import { refresh } from './look-up.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'
import { phaseOf } from './state.ts'

const CONFLICT = 409
const NOT_FOUND = 404
const LIMIT_MS = 60_000
const STEP_SECONDS = 20
const PAUSE_MS = 250

/** Removes a sandbox and waits until it is gone; one that is gone already is fine, one that is just changing is waited for. */
export async function removeSandbox(context: DaytonaContext, sandbox: Sandbox, { signal }: CallOptions = {}): Promise<void> {
  const what = `Sandbox ${sandbox.name} was not deleted`
  for (const end = Date.now() + LIMIT_MS; ; ) {
    try {
      if (phaseOf(sandbox) !== 'gone') await context.calls.run(what, () => sandbox.delete(STEP_SECONDS, true), { signal })
    } catch (error) {
      if (statusOf(error) === NOT_FOUND) return
      const passing = statusOf(error) === CONFLICT || isOpen(error)
      if (signal?.aborted || !passing || Date.now() > end) throw error
    }
    if (!(await refresh(context, sandbox, { signal })) || sandbox.state === 'destroyed') return
    if (Date.now() > end) throw context.calls.error(new Error(`its state is still ${sandbox.state}`), what)
    await sleep(PAUSE_MS, { signal })
  }
}

/** Removes a sandbox that this very call made, unless somebody works in it by now. What fails is told in the log. */
export async function removeMade(context: DaytonaContext, made: Sandbox): Promise<void> {
  const { logger } = context
  const users = phaseOf(made) === 'running' ? await made.process.listPtySessions().catch(() => []) : []
  if (users.length > 0) return logger.info({ sandbox: made.name }, 'in use by another host, so it stays')
  try {
    await removeSandbox(context, made)
  } catch (error) {
    logger.warn({ sandbox: made.name, reason: toWorkspaceError(error).message }, 'a half-made sandbox may be left')
  }
}
