import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { BackendName, Environment } from '../backends/backend.ts'
import { VERSION } from '../gateway/version.ts'
import type { HeartbeatOptions } from '../gateway/wire-heartbeat.ts'
import type { Logger } from '../lib/log.ts'
import { LinkClient } from './client.ts'
import { dialEnvironment } from './dial-environment.ts'
import { dialLocal } from './dial-local.ts'
import type { GatewayClient, LinkEvents } from './gateway-client.ts'
import type { DaemonSetup } from './gateway-flags.ts'
import { gatewayScript } from './gateway-script.ts'

export interface ConnectOptions {
  /** Stable across restarts of the host, unique per user and kind of host. */
  owner: string
  env: Record<string, string>
  graceMs: number
  gatewayIdleMs: number
  jobMaxLifeMs: number
  logMaxBytes: number
  reconnectMs: number
  confine?: string
  logger: Logger
  events?: LinkEvents
  /** Path of the built gateway program; absent: the one that came with this build. */
  gatewayScript?: string
  /** Folder of this host for a node that environments without one get; absent: one in the temporary directory. */
  cacheDir?: string | undefined
  /** When a silent gateway is asked, and given up; absent: `DEFAULT_HEARTBEAT`. */
  heartbeat?: HeartbeatOptions
}

/** Where bytes pass through several processes, more of a transfer may be under way. */
const WINDOW_BYTES: Partial<Record<BackendName, number>> = { docker: 512 * 1024 }

/**
 * A client of the gateway in `environment`; returns at once and dials behind the caller's back, starting (and where needed
 * putting in) the gateway when there is none. The client owns its stream, its timers and nothing of the environment.
 */
export function connectGateway(environment: Environment, options: ConnectOptions): GatewayClient {
  const { info } = environment
  const { owner, env, graceMs, gatewayIdleMs, reconnectMs, heartbeat, logger, events } = options
  const { cacheDir = join(tmpdir(), 'atelier-cache') } = options
  const script = (): string => options.gatewayScript ?? gatewayScript()
  const place = { dir: runtimeDirOf(environment), workdir: info.workdir, root: info.root }
  const setup: DaemonSetup = { ...options, ...place, inheritEnv: info.socket === undefined }
  return new LinkClient({
    dial: info.socket === undefined ? dialEnvironment(environment, { script, cacheDir }, setup) : dialLocal(script, setup),
    open: { owner, env, graceMs, idleMs: gatewayIdleMs },
    ...{ reconnectMs, heartbeat, logger, events, build: VERSION, windowBytes: WINDOW_BYTES[info.backend] },
  })
}

function runtimeDirOf({ info }: Environment): string {
  if (info.socket !== undefined) return dirname(info.socket)
  return `/tmp/.atelier-${createHash('sha256').update(info.id).digest('hex').slice(0, 12)}`
}
