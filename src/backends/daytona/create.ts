import { randomUUID } from 'node:crypto'
import type { CreateSandboxFromImageParams, CreateSandboxFromSnapshotParams } from '@daytonaio/sdk'
import { sleep } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, EnvironmentSpec } from '../backend.ts'
import { isOpen, statusOf } from './errors.ts'
import { findSandbox } from './look-up.ts'
import { type DaytonaRecord, labelsOf, newRecord, recordOf, sandboxName } from './record.ts'
import { removeMade } from './remove.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'
import { type DaytonaSettings, DEFAULT_AUTO_STOP_MINUTES, DEFAULT_WORKDIR } from './settings.ts'
import { brokenError, phaseOf } from './state.ts'
import { wake } from './wake.ts'

/** The SDK's own wait for a start; ours goes on after it. */
const TIMES = { timeout: 30 }
const CONFLICT = 409
/** A creation whose answer was lost may show up so much later. */
const LOST_MS = 1_500
/** One that goes on after an abort is waited for so long, to remove what it makes. */
const ABORTED_MS = 10_000
const POLL_MS = 250

type Params = CreateSandboxFromImageParams | CreateSandboxFromSnapshotParams

/**
 * Makes and starts the sandbox of a workspace that has none. What this call made goes again when it fails, unless somebody came
 * to use it meanwhile. `undefined`: another host was first.
 */
export async function createSandbox(
  context: DaytonaContext,
  spec: EnvironmentSpec,
  options: CallOptions,
): Promise<Sandbox | undefined> {
  const { settings, client, calls } = context
  const name = sandboxName(spec.id, settings.namespace)
  const record = newRecord(spec, {
    attempt: randomUUID(),
    image: describe(spec, settings),
    workdir: settings.workdir ?? DEFAULT_WORKDIR,
  })
  const what = `Workspace ${spec.name}: its sandbox was not made`
  const making = { settled: false }
  const make = async (): Promise<Sandbox> => {
    making.settled = false
    const params = paramsFor(name, record, { spec, settings })
    const sent = 'image' in params ? client.create(params, TIMES) : client.create(params, TIMES)
    return sent.finally(() => {
      making.settled = true
    })
  }
  try {
    return await calls.run(what, make, options)
  } catch (error) {
    if (statusOf(error) === CONFLICT && !options.signal?.aborted) return undefined
    return await salvage(context, { name, attempt: record.attempt, making, ...options }, error)
  }
}

interface Lost extends CallOptions {
  name: string
  attempt: string
  making: { settled: boolean }
}

/** A creation that failed, or whose end nobody saw, may have made a sandbox: it is used where it can be, else removed. */
async function salvage(context: DaytonaContext, lost: Lost, failure: unknown): Promise<Sandbox> {
  const { signal } = lost
  if (signal?.aborted) await discard(context, lost, ABORTED_MS)
  if (signal?.aborted || !isOpen(failure)) throw failure
  const made = await lookFor(context, lost, LOST_MS)
  if (made === undefined) throw failure
  try {
    if (['failed', 'unbuilt', 'gone'].includes(phaseOf(made))) throw brokenError(made)
    if (await wake(context, made, { signal })) return made
    throw failure
  } catch (error) {
    await removeMade(context, made)
    throw error
  }
}

/** Looks for a sandbox that this call may have made. */
async function lookFor(context: DaytonaContext, lost: Lost, limitMs: number): Promise<Sandbox | undefined> {
  const { name, attempt, making, signal } = lost
  for (const end = Date.now() + limitMs; ; ) {
    // Asked after a creation that was not cut off, the answer is the last word.
    const last = Date.now() > end || (making.settled && signal?.aborted)
    const found = await findSandbox(context, name, signal?.aborted ? {} : { signal })
    if (found !== undefined && isOurs(context, found, attempt)) return found
    if (last) return undefined
    await sleep(POLL_MS)
  }
}

/** Removes what this call made, or still makes. */
async function discard(context: DaytonaContext, lost: Lost, limitMs: number): Promise<void> {
  const { calls, logger } = context
  try {
    const made = await lookFor(context, lost, limitMs)
    if (made !== undefined) await removeMade(context, made)
  } catch (error) {
    logger.warn({ sandbox: lost.name, reason: calls.error(error, 'Looking').message }, 'a half-made sandbox may be left')
  }
}

function isOurs({ settings }: DaytonaContext, { labels }: Sandbox, attempt: string): boolean {
  return recordOf(labels, settings.namespace)?.attempt === attempt
}

function describe({ image }: EnvironmentSpec, settings: DaytonaSettings): string {
  return image ?? settings.snapshot ?? settings.image ?? 'default'
}

function paramsFor(
  name: string,
  record: DaytonaRecord,
  { spec, settings }: { spec: EnvironmentSpec; settings: DaytonaSettings },
): Params {
  const { network = {}, namespace, snapshot, resources, user, volumes, autoArchiveMinutes } = settings
  const image = spec.image ?? (snapshot === undefined ? settings.image : undefined)
  if (resources !== undefined && image === undefined) {
    throw new WorkspaceError('invalid_argument', 'daytona.resources is for sandboxes that are made from an image.', {
      hint: 'Set daytona.image, or give the size to the snapshot.',
    })
  }
  return {
    ...{ name, labels: { ...settings.labels, ...labelsOf(record, namespace) }, public: false },
    envVars: { ...settings.env, ...spec.env },
    autoStopInterval: settings.autoStopMinutes ?? DEFAULT_AUTO_STOP_MINUTES,
    // Nothing that is kept here is ever deleted by the service.
    autoDeleteInterval: -1,
    ...(autoArchiveMinutes === undefined ? {} : { autoArchiveInterval: autoArchiveMinutes }),
    ...(user === undefined ? {} : { user }),
    ...(volumes === undefined ? {} : { volumes: volumes.map(volume => ({ ...volume })) }),
    ...(network.blockAll === undefined ? {} : { networkBlockAll: network.blockAll }),
    ...(network.allow === undefined ? {} : { networkAllowList: network.allow.join(',') }),
    ...(network.domains === undefined ? {} : { domainAllowList: network.domains.join(',') }),
    ...(network.proxyUrl === undefined ? {} : { outboundProxyUrl: network.proxyUrl }),
    ...(image === undefined
      ? snapshot === undefined
        ? {}
        : { snapshot }
      : { image, ...(resources === undefined ? {} : { resources }) }),
  }
}
