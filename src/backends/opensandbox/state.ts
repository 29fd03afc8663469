import type { SandboxInfo } from '@alibaba-group/opensandbox'
import type { EnvironmentInfo, EnvironmentState } from '../backend.ts'
import type { OpenSandboxRecord } from './record.ts'

/** What a state of the server means to us. */
export type Phase = 'running' | 'paused' | 'coming' | 'going' | 'failed' | 'gone'

const PHASES: Readonly<Record<string, Phase>> = {
  running: 'running',
  paused: 'paused',
  ...{ pending: 'coming', creating: 'coming', resuming: 'coming' },
  pausing: 'going',
  ...{ failed: 'failed', error: 'failed' },
  ...{ stopping: 'gone', deleting: 'gone', deleted: 'gone', terminated: 'gone' },
}

const STATES: Readonly<Record<Phase, EnvironmentState>> = {
  running: 'running',
  coming: 'running',
  paused: 'suspended',
  going: 'suspended',
  failed: 'gone',
  gone: 'gone',
}

/** A sandbox of a workspace, as the server knows it. */
export interface Listed {
  sandboxId: string
  phase: Phase
  record: OpenSandboxRecord
  /** The server's own words for a state that is no good. */
  reason?: string
  /** When the server made it, ms since 1970. */
  createdAt: number
}

/** A state that is not known (yet) is taken for one that passes. */
export function phaseOf({ status }: Pick<SandboxInfo, 'status'>): Phase {
  return PHASES[status.state.toLowerCase()] ?? 'coming'
}

/** The server's own words about a sandbox's state. */
export function reasonOf({ status }: Pick<SandboxInfo, 'status'>): string {
  return (status.message || status.reason || status.state).trim().replace(/\.$/, '')
}

/**
 * Which of several sandboxes of one workspace counts: one that lives before one that failed, one that was handed out before one that
 * was not, then the oldest by its record, then by its id.
 */
export function inOrder(a: Listed, b: Listed): number {
  const rank = ({ phase, record }: Listed): number => (phase === 'failed' ? 2 : record.handedOut === undefined ? 1 : 0)
  return rank(a) - rank(b) || a.record.created - b.record.created || (a.sandboxId < b.sandboxId ? -1 : 1)
}

/** A workspace as the layers above see it. */
export function infoOf({ record, sandboxId, phase }: Listed, more: { ended?: string } = {}): EnvironmentInfo {
  const { id, name, owner, created, workdir, image, env } = record
  return {
    ...{ id, backend: 'opensandbox', name, owner, state: STATES[phase], createdAt: new Date(created).toISOString() },
    ...{ workdir, root: workdir, madeByAtelier: true, incarnation: sandboxId },
    ...(env === undefined ? {} : { env }),
    ...more,
    details: { image, sandbox: sandboxId },
  }
}
