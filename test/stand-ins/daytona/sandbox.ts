import type { Mount } from '../shared/containers.ts'
import type { SandboxRecord } from '../shared/sandboxes.ts'

/** The states that this service knows, of those in the SDK. */
export type State =
  | 'creating'
  | 'started'
  | 'starting'
  | 'stopping'
  | 'stopped'
  | 'archiving'
  | 'archived'
  | 'restoring'
  | 'destroying'
  | 'error'
  | 'build_failed'

/** What the service knows of a sandbox. */
export interface SandboxData {
  /** The key that made it, as an organization: others do not see it. */
  account: string
  name: string
  state: State
  errorReason?: string
  recoverable?: boolean
  labels: Record<string, string>
  env: Record<string, string>
  /** Minutes; 0: never. */
  autoStopInterval: number
  autoArchiveInterval: number
  /** Minutes; negative: never, 0: at the stop. */
  autoDeleteInterval: number
  /** ISO 8601. */
  autoDestroyAt?: string
  lastActivityAt: string
  updatedAt: string
  /** What else was asked for at creation, as it came. */
  asked: Record<string, unknown>
}

export type Sandbox = SandboxRecord<SandboxData>

/** What an account's sandboxes see of the host; some only those with a label. */
export type Accounts = Map<string, readonly (Mount & { onlyWith?: { label: string; value: string } })[]>

/** An answer that is no success. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string | undefined

  constructor(status: number, message: string, code?: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** An error as the service writes it. */
export function errorBody(status: number, message: string, code?: string): object {
  return {
    statusCode: status,
    message,
    error: message,
    ...(code === undefined ? {} : { code }),
    timestamp: new Date().toISOString(),
  }
}

/** The sandbox as the API shows it; lists leave out what is large. */
export function dtoOf({ id, createdAt, data }: Sandbox, url: string, { listed = false } = {}): object {
  const { account, env, asked, ...shown } = data
  const {
    volumes = [],
    networkBlockAll = false,
    networkAllowList,
    domainAllowList,
    user = 'daytona',
    target = 'us',
    ...rest
  } = asked
  const { snapshot, cpu = 1, memory = 1, disk = 3, gpu = 0, public: open = false } = rest
  return {
    ...{ id, organizationId: `org-${account}`, createdAt, ...shown },
    ...{ user, target, cpu, memory, disk, gpu, public: open, ...(snapshot === undefined ? {} : { snapshot }) },
    toolboxProxyUrl: `${url}/toolbox`,
    ...(listed ? {} : { env, volumes, networkBlockAll, networkAllowList, domainAllowList }),
  }
}
