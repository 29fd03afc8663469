import type { SandboxNetworkOpts, SandboxOpts } from 'e2b'
import { withSignal } from '../../lib/deadline.ts'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, EnvironmentInfo } from '../backend.ts'
import { e2bError } from './errors.ts'
import { type E2bRecord, type Listed, metadataOf } from './record.ts'
import type { Sandbox } from './sdk.ts'
import { ask, type E2bContext, listSandboxes } from './service.ts'
import { DEFAULT_TIMEOUT_MS } from './settings.ts'

/** What a failed creation left is looked for within this, whatever became of the call. */
const CLEAN_UP_MS = 20_000

/** The settings and a record as the SDK takes them: its time-out pauses, so that no files are lost by it. */
export function createOptions({ settings }: Pick<E2bContext, 'settings'>, record: E2bRecord): SandboxOpts {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, env, metadata, network, allowInternetAccess, volumeMounts } = settings
  return {
    timeoutMs,
    lifecycle: { onTimeout: 'pause' },
    metadata: { ...metadata, ...metadataOf(record) },
    ...(env === undefined ? {} : { envs: env }),
    ...(network === undefined ? {} : { network: network as SandboxNetworkOpts }),
    ...(allowInternetAccess === undefined ? {} : { allowInternetAccess }),
    ...(volumeMounts === undefined ? {} : { volumeMounts }),
  }
}

/**
 * Makes a sandbox. A request whose answer was lost may have made one all the same: what this call made is then found by its mark and
 * used. An abort does not cut the request, whose sandbox would be nobody's: it is removed as soon as it is there.
 */
export async function createSandbox(context: E2bContext, record: E2bRecord, options: CallOptions = {}): Promise<Sandbox> {
  const { sandboxes } = context
  const { template } = record
  const what = `A sandbox of the template "${template}" was not made`
  const make = () => sandboxes.create(template, createOptions(context, record))
  const making = ask(what, make, { signal: options.signal, once: true })
  try {
    return await withSignal(making, options.signal)
  } catch (error) {
    if (options.signal?.aborted) void removeWhenMade(context, record, making)
    else {
      const made = await knownToBeMade(context, record)
      if (made !== undefined) return connectSandbox(context, made.sandboxId, options)
    }
    throw e2bError(error, what, options)
  }
}

async function removeWhenMade(context: E2bContext, record: E2bRecord, making: Promise<Sandbox>): Promise<void> {
  const sandbox = await making.catch(() => knownToBeMade(context, record))
  if (sandbox !== undefined) await removeSandboxes(context, [sandbox])
}

/** What a creation that failed made all the same; of several the first, and the others go. */
async function knownToBeMade(context: E2bContext, record: E2bRecord): Promise<Listed | undefined> {
  try {
    const [first, ...others] = await madeBy(context, record)
    await removeSandboxes(context, others)
    return first
  } catch (error) {
    context.logger.warn({ reason: toWorkspaceError(error).message }, 'not known whether a failed creation left a sandbox')
    return undefined
  }
}

/** The sandboxes that one call made: usually one. */
export async function madeBy(context: E2bContext, { id, maker }: E2bRecord): Promise<Listed[]> {
  const listed = await listSandboxes(context, { id }, { signal: AbortSignal.timeout(CLEAN_UP_MS) })
  return listed.filter(({ record }) => record.maker === maker)
}

/** Opens a sandbox; a paused one is resumed, with what ran in it. */
export function connectSandbox({ sandboxes, settings }: E2bContext, id: string, options: CallOptions = {}): Promise<Sandbox> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = settings
  return ask(`Sandbox ${id}`, signal => sandboxes.connect(id, { timeoutMs, ...(signal && { signal }) }), options)
}

/** Removes a sandbox; one that is gone is fine. */
export async function removeSandbox({ sandboxes }: E2bContext, id: string, options: CallOptions = {}): Promise<void> {
  await ask(`Sandbox ${id}`, signal => sandboxes.kill(id, { ...(signal && { signal }) }), options)
}

/** Removes all sandboxes of a workspace, whatever their state, and those of `known`, which a list may not have yet. */
export async function removeAll(
  context: E2bContext,
  { id, owner }: Pick<EnvironmentInfo, 'id' | 'owner'>,
  { known = [], ...options }: CallOptions & { known?: readonly string[] } = {},
): Promise<void> {
  const all = await listSandboxes(context, { id }, options)
  const mine = all.filter(({ record }) => record.owner.user === owner.user)
  for (const each of new Set([...known, ...mine.map(({ sandboxId }) => sandboxId)])) await removeSandbox(context, each, options)
}

/** Removes sandboxes; a failure is logged, since there is an error already that says more. */
export async function removeSandboxes(context: E2bContext, all: readonly { sandboxId: string }[]): Promise<void> {
  for (const { sandboxId } of all) {
    await removeSandbox(context, sandboxId).catch(error =>
      context.logger.warn({ sandbox: sandboxId, reason: toWorkspaceError(error).message }, 'a sandbox was left'),
    )
  }
}
