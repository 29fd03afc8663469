import { formatMs, sleep } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { isOpen, statusOf } from './errors.ts'
import { refresh } from './look-up.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'
import { DEFAULT_START_TIMEOUT_MS } from './settings.ts'
import { brokenError, phaseOf } from './state.ts'

const FIRST_PAUSE_MS = 50
const LAST_PAUSE_MS = 1_000
/** The SDK's own wait; ours goes on after it. */
const STEP_SECONDS = 10
/** So often is a sandbox started that falls asleep again. */
const STARTS = 5
const CONFLICT = 409
const BAD_REQUEST = 400

/**
 * Brings a sandbox to run from whatever state it is in: starts it, has it repaired, waits while it changes. `false`: it is gone.
 * Throws when it can't be used, or takes longer than it may.
 */
export async function wake(context: DaytonaContext, sandbox: Sandbox, options: CallOptions = {}): Promise<boolean> {
  const limitMs = context.settings.startTimeoutMs ?? DEFAULT_START_TIMEOUT_MS
  const deadline = Date.now() + limitMs
  let starts = 0
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LAST_PAUSE_MS, pause * 1.5)) {
    const phase = phaseOf(sandbox)
    if (phase === 'running') return true
    if (phase === 'gone') return gone(context, sandbox, { ...options, deadline })
    if (phase === 'unbuilt') throw brokenError(sandbox)
    if (phase === 'asleep' || phase === 'failed') {
      if (starts++ >= STARTS || (phase === 'failed' && !sandbox.recoverable)) throw brokenError(sandbox)
      await start(context, sandbox, options)
    }
    if (phaseOf(sandbox) === 'running') return true
    if (Date.now() > deadline) throw late(sandbox, limitMs)
    await sleep(pause, options)
    if (!(await refresh(context, sandbox, options))) return false
  }
}

/** Starts or repairs it. What another host or the service itself does at the same time is no failure: the state tells. */
async function start(context: DaytonaContext, sandbox: Sandbox, { signal }: CallOptions): Promise<void> {
  const repair = phaseOf(sandbox) === 'failed'
  const begin = () => (repair ? sandbox.recover(STEP_SECONDS) : sandbox.start(STEP_SECONDS))
  try {
    await context.calls.run(`Sandbox ${sandbox.name} was not started`, begin, { signal })
  } catch (error) {
    if (signal?.aborted) throw error
    const status = statusOf(error)
    const busy = status === CONFLICT || (status === BAD_REQUEST && toWorkspaceError(error).code !== 'limit_exceeded')
    if (!busy && !isOpen(error)) throw error
    context.logger.debug({ sandbox: sandbox.name, reason: toWorkspaceError(error).message }, 'start to be looked at again')
  }
}

/** Waits until the name is free; `false`, or an error when it does not go. */
async function gone(
  context: DaytonaContext,
  sandbox: Sandbox,
  { deadline, ...options }: CallOptions & { deadline: number },
): Promise<false> {
  while (await refresh(context, sandbox, options)) {
    if (sandbox.state === 'destroyed') return false
    if (Date.now() > deadline) throw late(sandbox, context.settings.startTimeoutMs ?? DEFAULT_START_TIMEOUT_MS)
    await sleep(LAST_PAUSE_MS / 4, options)
  }
  return false
}

function late(sandbox: Sandbox, limitMs: number): WorkspaceError {
  return new WorkspaceError(
    'timeout',
    `Sandbox ${sandbox.name} did not start within ${formatMs(limitMs)}: its state is ${sandbox.state}.`,
    { hint: 'Try again: it may have started meanwhile. daytona.startTimeoutMs allows more time.' },
  )
}
