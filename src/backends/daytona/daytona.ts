import { sleep, throwIfAborted } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { Backend, CallOptions, Environment, EnvironmentInfo, EnvironmentSpec, OwnerFilter } from '../backend.ts'
import { belongsTo } from '../owner-filter.ts'
import { createSandbox } from './create.ts'
import { createDaytonaEnvironment } from './environment.ts'
import { isOpen } from './errors.ts'
import { handOut } from './hand-out.ts'
import { allSandboxes, findSandbox } from './look-up.ts'
import { prepareSandbox } from './prepare.ts'
import { probeDaytona } from './probe.ts'
import { type DaytonaRecord, recordOf, sandboxName } from './record.ts'
import { removeMade, removeSandbox } from './remove.ts'
import { connectDaytona, type DaytonaContext, type Sandbox } from './sdk.ts'
import type { DaytonaSettings } from './settings.ts'
import { infoOf, phaseOf, whyEnded } from './state.ts'
import { pruneSandboxes } from './sweep.ts'
import { wake } from './wake.ts'

export interface DaytonaBackendOptions extends DaytonaSettings {
  logger: Logger
}

/** As often may others be faster before a call gives up. */
const ATTEMPTS = 8
/** So often is a creation tried whose answer did not come; the name keeps a second try from making a second sandbox. */
const CREATIONS = 2
const PAUSE_MS = 100

/**
 * Sandboxes of Daytona. A workspace is one sandbox, found by its name and told by its labels; it is stopped at close and started at
 * the next use.
 */
export function createDaytonaBackend({ logger, ...settings }: DaytonaBackendOptions): Backend {
  let context: Promise<DaytonaContext> | undefined
  const connect = (): Promise<DaytonaContext> => {
    context ??= connectDaytona(settings, logger).catch(error => {
      context = undefined
      throw error
    })
    return context
  }
  return {
    name: 'daytona',
    async provision(spec, options) {
      throwIfAborted(options?.signal)
      const here = await connect()
      return provision(here, spec, options).catch(error => {
        throw here.calls.error(error, `Workspace ${spec.name}`)
      })
    },
    async find(id, options) {
      const here = await connect()
      const sandbox = await findSandbox(here, sandboxName(id, settings.namespace), options)
      const record = recordOf(sandbox?.labels, settings.namespace)
      if (sandbox === undefined || record?.id !== id || phaseOf(sandbox) === 'gone') return undefined
      return infoOf(record, sandbox)
    },
    async *list(filter, options) {
      yield* enumerate(await connect(), filter, options)
    },
    probe: options => probeDaytona(connect, options),
    async *prune(options) {
      yield* pruneSandboxes(await connect(), options)
    },
    async remove({ id, owner }, options) {
      const here = await connect()
      const sandbox = await findSandbox(here, sandboxName(id, settings.namespace), options)
      const record = recordOf(sandbox?.labels, settings.namespace)
      if (sandbox !== undefined && record?.id === id && record.owner.user === owner.user)
        await removeSandbox(here, sandbox, options)
    },
  }
}

async function provision(context: DaytonaContext, spec: EnvironmentSpec, options: CallOptions = {}): Promise<Environment> {
  const name = sandboxName(spec.id, context.settings.namespace)
  let creations = 0
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await sleep(PAUSE_MS * attempt, options)
    const found = await findSandbox(context, name, options)
    if (found !== undefined) {
      const environment = await attach(context, spec, found, options)
      if (environment !== undefined) return environment
      continue
    }
    const made = await createSandbox(context, spec, options).catch(error => {
      if (options.signal?.aborted || !isOpen(error) || ++creations >= CREATIONS) throw error
      context.logger.debug({ sandbox: name, reason: toWorkspaceError(error).message }, 'creation to be tried again')
      return undefined
    })
    if (made !== undefined) return first(context, spec, made, options)
  }
  throw new WorkspaceError('unavailable', `Sandbox ${name} is made and deleted by others again and again.`)
}

/** A sandbox that was there before. `undefined`: it is gone, or was never finished and has been removed. */
async function attach(
  context: DaytonaContext,
  spec: EnvironmentSpec,
  found: Sandbox,
  options: CallOptions,
): Promise<Environment | undefined> {
  const record = ownRecord(context, spec, found)
  const ended = whyEnded(found)
  if (phaseOf(found) === 'unbuilt') {
    // There never were files in it.
    await removeSandbox(context, found, options)
    return undefined
  }
  if (!(await wake(context, found, options))) return undefined
  await prepareSandbox(context, found, { ...options, workdir: record.workdir })
  await handOut(context, found, options)
  return createDaytonaEnvironment(context, found, infoOf(record, found, ended))
}

async function first(context: DaytonaContext, spec: EnvironmentSpec, made: Sandbox, options: CallOptions): Promise<Environment> {
  try {
    const record = ownRecord(context, spec, made)
    await prepareSandbox(context, made, { ...options, workdir: record.workdir })
    await handOut(context, made, options)
    throwIfAborted(options.signal)
    return createDaytonaEnvironment(context, made, infoOf(record, made))
  } catch (error) {
    await removeMade(context, made)
    throw error
  }
}

/** The record of the sandbox that has the name; refuses one that is not this workspace's. */
function ownRecord({ settings }: DaytonaContext, spec: EnvironmentSpec, { labels, name }: Sandbox): DaytonaRecord {
  const record = recordOf(labels, settings.namespace)
  if (record?.id === spec.id && record.owner.user === spec.owner.user) return record
  throw new WorkspaceError('already_exists', `The sandbox ${name} is there and is not this workspace's.`, {
    hint: 'Look at its labels on the Daytona dashboard, and rename or delete it.',
  })
}

async function* enumerate(context: DaytonaContext, filter: OwnerFilter, options?: CallOptions): AsyncIterable<EnvironmentInfo> {
  for (const sandbox of await allSandboxes(context, filter, options)) {
    const record = recordOf(sandbox.labels, context.settings.namespace)
    if (record === undefined || phaseOf(sandbox) === 'gone') continue
    const info = infoOf(record, sandbox)
    if (belongsTo(info, filter)) yield info
  }
}
