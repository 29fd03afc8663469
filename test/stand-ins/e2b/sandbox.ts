import type { Mount } from '../shared/containers.ts'

/** What the service knows of a sandbox. */
export interface SandboxData {
  /** The key that made it: others do not see it. */
  account: string
  template: string
  metadata: Record<string, string>
  envs: Record<string, string>
  /** Opens its envd. */
  token: string
  /** Only what runs or is paused shows. */
  state: 'starting' | 'running' | 'paused' | 'ending'
  /** ISO 8601. */
  startedAt: string
  endAt: string
  autoPause: boolean
  /** What else was asked for at creation, as it came. */
  asked: Record<string, unknown>
}

/** A mount for sandboxes that have this metadata, else for all. */
export interface AccountMount extends Mount {
  metadata?: Record<string, string>
}

/** What an account's sandboxes see of the host. */
export type Accounts = Map<string, readonly AccountMount[]>

/** Label of containers with the key that made them. */
export const ACCOUNT_LABEL = 'atelier.stand-in.account'

export const ENVD_VERSION = '0.6.13'
/** The service takes longer ones back to this. */
export const MAX_TIMEOUT_S = 86_400
/** The published description's. */
export const DEFAULT_TIMEOUT_S = 15
