import { formatMs, sleep } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { CallOptions } from '../backend.ts'
import { e2bError, isPassing } from './errors.ts'
import type { InputChoice } from './input-choice.ts'
import { type Listed, metadataFilter, recordOf } from './record.ts'
import { watchRetryAfter } from './retry-after.ts'
import type { Sdk } from './sdk.ts'
import type { E2bSettings } from './settings.ts'

/** What every part of this backend works with. */
export interface E2bContext extends Sdk {
  settings: E2bSettings
  logger: Logger
  input: InputChoice
  /** Sandboxes that lost and hold data, which was reported. */
  reported: Set<string>
  /** Before a new sandbox is handed out, others have so long to show up. Ms. */
  settleMs: number
}

/** Pauses between tries of a request; what the service says in `Retry-After`, and the SDK did not wait for, comes first. */
const PAUSES_MS = [250, 1_000, 3_000]
/** A longer wait is the caller's to decide. */
const LONGEST_WAIT_MS = 60_000

export interface AskOptions extends CallOptions {
  /** What must not be done twice is tried again only when the service refused to do it at all. */
  once?: boolean
}

/** Asks the service; what can be asked twice is, when it was only busy. Errors are ours. */
export async function ask<T>(
  what: string,
  run: (signal: AbortSignal | undefined) => Promise<T>,
  { signal, once = false }: AskOptions = {},
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const told = watchRetryAfter()
    let wait: number
    try {
      return await run(signal)
    } catch (error) {
      const failure = e2bError(error, what, { signal })
      const limited = failure.code === 'limit_exceeded'
      wait = pauseBefore(failure, attempt, limited ? told.ms : undefined)
      if (once && !limited) throw failure
    } finally {
      told.stop()
    }
    await sleep(wait, { signal })
  }
}

/** How long to wait before the next try, ms; throws where there is none. */
function pauseBefore(failure: WorkspaceError, attempt: number, asked: number | undefined): number {
  const pause = PAUSES_MS[attempt]
  if (pause === undefined || !isPassing(failure)) throw failure
  if (asked === undefined || asked <= LONGEST_WAIT_MS) return asked ?? pause
  const hint = `The service asks to wait ${formatMs(asked)}: try again then.`
  throw new WorkspaceError(failure.code, failure.message, { hint, cause: failure.cause })
}

/** All sandboxes of one workspace, or of a user's, in no order; paused ones too. */
export async function listSandboxes(
  { sandboxes }: E2bContext,
  wanted: { id: string } | { user: string | undefined },
  options: CallOptions = {},
): Promise<Listed[]> {
  const found: Listed[] = []
  const pages = sandboxes.list({ query: { metadata: metadataFilter(wanted), state: ['running', 'paused'] }, order: 'asc' })
  while (pages.hasNext) {
    const page = await ask('Listing sandboxes', signal => pages.nextItems(signal === undefined ? {} : { signal }), options)
    for (const { sandboxId, state, startedAt, metadata } of page) {
      const record = recordOf(metadata)
      if (record === undefined || ('id' in wanted && record.id !== wanted.id)) continue
      found.push({ sandboxId, state, startedAt, record })
    }
  }
  return found
}
