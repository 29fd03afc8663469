import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Daytona, type Sandbox } from '@daytonaio/sdk'
import { vi } from 'vitest'
import type { Backend, EnvironmentSpec } from '../../../src/backends/backend.ts'
import { createDaytonaBackend, type DaytonaBackendOptions } from '../../../src/backends/daytona/daytona.ts'
import { toWorkspaceError } from '../../../src/lib/errors.ts'
import { type Logger, silentLogger } from '../../../src/lib/log.ts'
import { connectGateway } from '../../../src/link/connect.ts'
import { DEFAULT_LIMITS, type WorkspaceLimits } from '../../../src/workspace/limits.ts'
import { openWorkspace, type Workspace } from '../../../src/workspace/workspace.ts'
import { startDaytona } from '../../stand-ins/daytona/daytona.ts'
import type { PtyModes } from '../../stand-ins/daytona/pty.ts'
import type { FaultModes, FaultRule } from '../../stand-ins/shared/faults.ts'
import { OWNER } from '../support.ts'

export { failure, OWNER, sh } from '../support.ts'

// An engine is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

const IMAGE = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'

/** Why no sandboxes can be made here; empty where they can. */
export const MISSING = whatIsMissing()
/** Title of a suite that needs sandboxes, with the reason where it is skipped. */
export const onStandIn = (title: string): string => (MISSING === '' ? title : `${title} (skipped: ${MISSING})`)

function whatIsMissing(): string {
  try {
    execFileSync('docker', ['image', 'inspect', IMAGE], { stdio: ['ignore', 'ignore', 'pipe'] })
    return ''
  } catch (error) {
    return `no container engine with the image ${IMAGE}: ${toWorkspaceError(error).message.split('\n').at(-1)}`
  }
}

export interface OpenOptions extends Partial<DaytonaBackendOptions> {
  limits?: Partial<WorkspaceLimits>
}

/** A stand-in and a gateway of a test's own. */
export async function createWorld() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'at-day-')))
  execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'gateway', '--out', base])
  const stateDir = join(base, 'state')
  let standIn = await startDaytona({ port: 0, stateDir, mounts: [], image: IMAGE })
  const { url } = standIn
  const account = { apiKey: 'dtn_test', apiUrl: `${url}/api` }
  const client = new Daytona({ ...account, target: 'us', useDeprecatedPolling: true })
  const log: string[] = []
  const note = (_: object, message: string) => void log.push(message)
  const logger: Logger = { ...silentLogger, info: note, warn: note, child: () => logger }

  const backend = (options: Partial<DaytonaBackendOptions> = {}): Backend =>
    createDaytonaBackend({ ...account, logger, ...options })
  const spec = (id: string, more: Partial<EnvironmentSpec> = {}): EnvironmentSpec => ({ id, name: id, owner: OWNER, ...more })
  const gatewayScript = join(base, 'gateway.mjs')
  const open = (id: string, options: OpenOptions = {}, more: Partial<EnvironmentSpec> = {}): Promise<Workspace> => {
    const { limits = {}, ...rest } = options
    return openWorkspace(backend(rest), spec(id, more), {
      limits: { ...DEFAULT_LIMITS, ...limits },
      ...{ env: {}, owner: 'test', confine: 'none', goodbye: 'end', logger },
      connect: (environment, given) => connectGateway(environment, { ...given, gatewayScript }),
    })
  }
  return {
    ...{ account, base, client, url, backend, spec, open, log, script: gatewayScript },
    /** Makes the stand-in misbehave. */
    fault: (rule: FaultRule) => standIn.faults.add(rule),
    modes: (modes: FaultModes & PtyModes) => {
      standIn.faults.modes = modes
    },
    get faults() {
      return standIn.faults
    },
    /** Done behind the client's back. */
    behind: async (deed: 'stop' | 'archive' | 'delete' | 'break' | 'break-recoverable' | 'idle' | 'rest', id: string) =>
      void (await fetch(`${url}/__faults/${deed}/${id}`, { method: 'POST' })),
    /** The same service with the same state, a moment later. */
    async restart() {
      await standIn[Symbol.asyncDispose]()
      standIn = await startDaytona({ port: Number(new URL(url).port), stateDir, mounts: [], image: IMAGE })
    },
    /** All sandboxes of the account. */
    async sandboxes(): Promise<Sandbox[]> {
      const found: Sandbox[] = []
      for await (const sandbox of client.list()) found.push(sandbox)
      return found
    },
    async clear() {
      standIn.faults.clear()
      log.length = 0
      await standIn.removeAll()
    },
    async remove() {
      await standIn.removeAll()
      await standIn[Symbol.asyncDispose]()
      rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

export type World = Awaited<ReturnType<typeof createWorld>>
