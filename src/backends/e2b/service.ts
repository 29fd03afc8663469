import { sleep } from '../../lib/deadline.ts'
import type { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { CallOptions } from '../backend.ts'
import { e2bError, isPassing } from './errors.ts'
import type { InputChoice } from './input.ts'
import { type Listed, metadataFilter, recordOf } from './record.ts'
import type { Sandboxes } from './sdk.ts'
import type { E2bSettings } from './settings.ts'

/** What every part of this backend works with. */
export interface E2bContext {
  sandboxes: Sandboxes
  settings: E2bSettings
  logger: Logger
  input: InputChoice
  /** Sandboxes that lost and hold data, which was reported. */
  reported: Set<string>
  /** Before a new sandbox is handed out, others have so long to show up. Ms. */
  settleMs: number
}

/** Pauses between tries of a request that can be repeated; what the service says in `Retry-After` is the SDK's to follow. */
const PAUSES_MS = [250, 1_000, 3_000]

/** Asks the service; what can be asked twice is, when it was only busy. Errors are ours. */
export async function ask<T>(
  what: string,
  run: (signal: AbortSignal | undefined) => Promise<T>,
  options: CallOptions = {},
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const failure = await run(options.signal).then(
      value => ({ value }),
      error => e2bError(error, what, options),
    )
    if ('value' in failure) return failure.value
    const pause = PAUSES_MS[attempt]
    if (pause === undefined || !isPassing(failure as WorkspaceError)) throw failure
    await sleep(pause, { signal: options.signal })
  }
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
