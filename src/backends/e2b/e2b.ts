import { throwIfAborted } from '../../lib/deadline.ts'
import type { Logger } from '../../lib/log.ts'
import type { Backend, CallOptions, EnvironmentInfo, OwnerFilter } from '../backend.ts'
import { belongsTo } from '../owner-filter.ts'
import { removeAll } from './create.ts'
import { InputChoice } from './input-choice.ts'
import { probeE2b } from './probe.ts'
import { provision } from './provision.ts'
import { infoOf, inOrder, type Listed } from './record.ts'
import { connectSdk } from './sdk.ts'
import { type E2bContext, listSandboxes } from './service.ts'
import type { E2bSettings } from './settings.ts'
import { pruneSandboxes } from './sweep.ts'

export interface E2bBackendOptions extends E2bSettings {
  logger: Logger
  /** Before a new sandbox is handed out, others have so long to show up. Ms. */
  settleMs?: number
}

const SETTLE_MS = 2_000

/** Sandboxes of E2B, found again by their metadata. Closing pauses them, with files and memory; a time-out does the same. */
export function createE2bBackend(options: E2bBackendOptions): Backend {
  const { logger, settleMs = SETTLE_MS, ...settings } = options
  let context: Promise<E2bContext> | undefined
  const connect = (): Promise<E2bContext> => {
    context ??= connectSdk(settings).then(
      sdk => ({ ...sdk, settings, logger, settleMs, input: new InputChoice(), reported: new Set() }),
      error => {
        context = undefined
        throw error
      },
    )
    return context
  }
  return {
    name: 'e2b',
    async provision(spec, call) {
      throwIfAborted(call?.signal)
      return provision(await connect(), spec, call)
    },
    async find(id, call) {
      const [first] = (await listSandboxes(await connect(), { id }, call)).sort(inOrder)
      return first === undefined ? undefined : infoOf(first)
    },
    async *list(filter, call) {
      yield* enumerate(await connect(), filter, call)
    },
    probe: call => probeE2b(connect, call),
    async *prune(options) {
      yield* pruneSandboxes(await connect(), options)
    },
    remove: async (info, call) => removeAll(await connect(), info, call),
  }
}

/** One answer for each workspace, however many sandboxes it has. */
async function* enumerate(context: E2bContext, filter: OwnerFilter, call?: CallOptions): AsyncIterable<EnvironmentInfo> {
  const found = new Map<string, Listed>()
  for (const listed of (await listSandboxes(context, { user: filter.user }, call)).sort(inOrder)) {
    const key = `${listed.record.owner.user}\0${listed.record.id}`
    if (!found.has(key)) found.set(key, listed)
  }
  for (const listed of found.values()) {
    const info = infoOf(listed)
    if (belongsTo(info, filter)) yield info
  }
}
