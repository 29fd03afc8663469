import { throwIfAborted } from '../../lib/deadline.ts'
import type { Logger } from '../../lib/log.ts'
import type { Backend, CallOptions, EnvironmentInfo, OwnerFilter } from '../backend.ts'
import { belongsTo } from '../owner-filter.ts'
import { removeAll } from './create.ts'
import { reasonText } from './losers.ts'
import { probeOpenSandbox } from './probe.ts'
import { provision } from './provision.ts'
import { connectSdk } from './sdk.ts'
import { listSandboxes, type OpenSandboxContext } from './service.ts'
import type { OpenSandboxSettings } from './settings.ts'
import { infoOf, inOrder, type Listed } from './state.ts'
import { pauseUnused, prune } from './sweep.ts'

export interface OpenSandboxBackendOptions extends OpenSandboxSettings {
  logger: Logger
  /** Before a new sandbox is handed out, others have so long to show up. Ms. */
  settleMs?: number
  /** A new sandbox that runs for so long without being handed out was left by its maker, and is taken over. Ms. */
  leftMs?: number
}

const SETTLE_MS = 2_000
const LEFT_MS = 15_000

/** Sandboxes of an OpenSandbox server, found again by their metadata. Closing pauses them, with files and processes. */
export function createOpenSandboxBackend(options: OpenSandboxBackendOptions): Backend {
  const connect = connector(options)
  let swept = false
  const sweepOnce = (here: OpenSandboxContext): void => {
    if (swept) return
    swept = true
    pauseUnused(here).catch(error => options.logger.debug({ reason: reasonText(error) }, 'sweep failed'))
  }
  return {
    name: 'opensandbox',
    async provision(spec, call) {
      throwIfAborted(call?.signal)
      const here = await connect()
      const environment = await provision(here, spec, call)
      sweepOnce(here)
      return environment
    },
    async find(id, call) {
      const [first] = (await listSandboxes(await connect(), { id }, call)).sort(inOrder)
      return first === undefined ? undefined : infoOf(first)
    },
    async *list(filter, call) {
      const here = await connect()
      yield* enumerate(here, filter, call)
      sweepOnce(here)
    },
    probe: call => probeOpenSandbox(connect, call),
    async *prune(call) {
      yield* prune(await connect(), call)
    },
    remove: async (info, call) => removeAll(await connect(), info, call),
  }
}

/** Loads the SDK once, and tries again after a failure. */
function connector({
  logger,
  settleMs = SETTLE_MS,
  leftMs = LEFT_MS,
  ...settings
}: OpenSandboxBackendOptions): () => Promise<OpenSandboxContext> {
  let context: Promise<OpenSandboxContext> | undefined
  return () => {
    context ??= connectSdk(settings).then(
      sdk => ({ sdk, settings, logger, settleMs, leftMs, reported: new Set() }),
      error => {
        context = undefined
        throw error
      },
    )
    return context
  }
}

/** One answer for each workspace, however many sandboxes it has. */
async function* enumerate(context: OpenSandboxContext, filter: OwnerFilter, call?: CallOptions): AsyncIterable<EnvironmentInfo> {
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
