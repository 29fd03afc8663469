import type { Backend, BackendName, EnvironmentSpec } from '../../../src/backends/backend.ts'
import type { HeartbeatOptions } from '../../../src/gateway/wire-heartbeat.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { connectGateway } from '../../../src/link/connect.ts'
import { DEFAULT_LIMITS } from '../../../src/workspace/limits.ts'
import { openWorkspace, type Workspace } from '../../../src/workspace/workspace.ts'
import type { Faults } from '../../stand-ins/shared/faults.ts'

/** What somebody does behind our back, by fault. */
export type Deeds = Partial<Record<'paused' | 'expired' | 'removed', (workspace: Workspace) => Promise<unknown>>>

/** Regular expressions on the requests that a service is asked for one purpose. */
export interface Requests {
  /** Is it there? */
  look: string
  /** Make it. */
  create: string
  /** The first thing that is asked of a new one. */
  inside: string
  /** What carries the link. */
  stream: string
}

/** A service of a suite's own that misbehaves on demand. */
export interface FaultWorld {
  readonly faults: Faults
  requests: Requests
  /** The requests of making a workspace, in their order; of several that match, `nth` is meant. */
  steps: Record<string, { match: string; nth?: number }>
  deeds: Deeds
  /** Never to be seen in an environment, or in an error. */
  secret?: string
  /** Options of the backend, as plain data. */
  settings: object
  /** The gateway. */
  script: string
  /** Folder of the suite's own. */
  base: string
  backend(options?: object): Backend
  spec(id: string): EnvironmentSpec
  /** What the service has, whatever its state: the environments alone. */
  environments(): Promise<readonly string[]>
  /** What lies about of a workspace that is not there: environments, volumes, folders. */
  left(): Promise<readonly string[]>
  clear(): Promise<unknown>
  remove(): Promise<unknown>
}

/** A backend with a service to misbehave. */
export interface FaultPlace {
  name: Exclude<BackendName, 'local'>
  /** Why it can't be used here; empty where it can. */
  missing: string
  start(): Promise<FaultWorld>
}

export interface OpenOptions {
  /** Options of the backend. */
  options?: object
  heartbeat?: HeartbeatOptions
}

/** Opens a workspace as a host of its own. */
export function openIn(world: FaultWorld, id: string, { options = {}, heartbeat }: OpenOptions = {}): Promise<Workspace> {
  const given = { gatewayScript: world.script, ...(heartbeat === undefined ? {} : { heartbeat }) }
  return openWorkspace(world.backend(options), world.spec(id), {
    ...{ limits: DEFAULT_LIMITS, env: {}, owner: 'test', confine: 'none', goodbye: 'detach', logger: silentLogger },
    connect: (environment, more) => connectGateway(environment, { ...more, ...given }),
  })
}
