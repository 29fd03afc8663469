import { WorkspaceError } from '../../lib/errors.ts'
import type { EnvironmentInfo, EnvironmentState } from '../backend.ts'
import type { DaytonaRecord } from './record.ts'
import type { Sandbox } from './sdk.ts'

/** What a state of the service means to us. */
type Phase = 'running' | 'asleep' | 'coming' | 'going' | 'failed' | 'unbuilt' | 'gone'

const PHASES: Readonly<Record<string, Phase>> = {
  started: 'running',
  ...{ stopped: 'asleep', archived: 'asleep', paused: 'asleep' },
  ...{ creating: 'coming', restoring: 'coming', starting: 'coming', resuming: 'coming', unknown: 'coming' },
  ...{ pending_build: 'coming', building_snapshot: 'coming', pulling_snapshot: 'coming' },
  ...{ resizing: 'coming', snapshotting: 'coming', forking: 'coming' },
  ...{ stopping: 'going', archiving: 'going', pausing: 'going' },
  ...{ error: 'failed', build_failed: 'unbuilt', destroying: 'gone', destroyed: 'gone' },
}

const STATES: Readonly<Record<Phase, EnvironmentState>> = {
  running: 'running',
  coming: 'running',
  asleep: 'suspended',
  going: 'suspended',
  failed: 'unknown',
  unbuilt: 'gone',
  gone: 'gone',
}

/** A state that is not known (yet) is taken for one that passes. */
export function phaseOf({ state }: Pick<Sandbox, 'state'>): Phase {
  return PHASES[state ?? 'unknown'] ?? 'coming'
}

/** A workspace as the layers above see it. */
export function infoOf(record: DaytonaRecord, sandbox: Sandbox, ended?: string): EnvironmentInfo {
  const { id, name, owner, created, workdir, image, envNames } = record
  const env = Object.fromEntries(envNames.flatMap(key => (sandbox.env?.[key] === undefined ? [] : [[key, sandbox.env[key]]])))
  return {
    ...{ id, backend: 'daytona', name, owner, state: STATES[phaseOf(sandbox)], createdAt: created },
    ...{ workdir, root: workdir, madeByAtelier: true, incarnation: sandbox.id },
    ...(envNames.length === 0 || sandbox.env === undefined ? {} : { env: env as Record<string, string> }),
    ...(ended === undefined ? {} : { ended }),
    details: {
      ...{ image, sandbox: sandbox.name ?? sandbox.id, id: sandbox.id, state: String(sandbox.state) },
      ...(sandbox.target ? { target: sandbox.target } : {}),
      ...(sandbox.errorReason ? { reason: sandbox.errorReason } : {}),
    },
  }
}

/** Why a sandbox that does not run is so, as the end of a sentence; `undefined` for one that runs or is on its way. */
export function whyEnded(sandbox: Sandbox): string | undefined {
  const phase = phaseOf(sandbox)
  if (phase === 'running' || phase === 'coming') return undefined
  if (phase === 'gone') return 'it was deleted'
  const because = sandbox.errorReason ? `: ${sandbox.errorReason}` : ''
  if (phase === 'failed') return `it failed${because}`
  if (phase === 'unbuilt') return `its image was not built${because}`
  const verb =
    { stopped: 'stopped', stopping: 'stopped', paused: 'paused', pausing: 'paused' }[String(sandbox.state)] ?? 'archived'
  return `it was ${verb}`
}

/** The error for a sandbox that can't be brought to run. */
export function brokenError(sandbox: Sandbox): WorkspaceError {
  const what = `Sandbox ${sandbox.name ?? sandbox.id} can't be used: ${whyEnded(sandbox) ?? `its state is ${sandbox.state}`}.`
  if (phaseOf(sandbox) === 'unbuilt') {
    return new WorkspaceError('precondition_failed', what, { hint: 'Correct daytona.image or daytona.snapshot, then try again.' })
  }
  return new WorkspaceError('unavailable', what, {
    hint: 'See it on the Daytona dashboard; workspace_delete removes it with its files.',
  })
}

/** The error for a sandbox that is not there to be used any more, with what became of it. */
export function lostError(name: string, sandbox: Sandbox | undefined): WorkspaceError | undefined {
  const phase = sandbox === undefined ? 'gone' : phaseOf(sandbox)
  if (sandbox === undefined || phase === 'gone' || phase === 'unbuilt') {
    return new WorkspaceError('environment_gone', `Sandbox ${name} was deleted, and its files are gone.`, {
      hint: 'Call again: a new one is made by the next call.',
    })
  }
  const why = whyEnded(sandbox)
  if (why === undefined) return undefined
  return new WorkspaceError('environment_lost', `Sandbox ${name} is not running: ${why}.`)
}
