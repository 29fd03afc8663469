import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sandbox } from 'e2b'
import { vi } from 'vitest'
import type { Backend, EnvironmentSpec } from '../../../src/backends/backend.ts'
import { createE2bBackend, type E2bBackendOptions } from '../../../src/backends/e2b/e2b.ts'
import { toWorkspaceError } from '../../../src/lib/errors.ts'
import { type Logger, silentLogger } from '../../../src/lib/log.ts'
import { connectGateway } from '../../../src/link/connect.ts'
import { DEFAULT_LIMITS, type WorkspaceLimits } from '../../../src/workspace/limits.ts'
import { openWorkspace, type Workspace } from '../../../src/workspace/workspace.ts'
import { startE2b } from '../../stand-ins/e2b/e2b.ts'
import type { FaultRule } from '../../stand-ins/shared/faults.ts'
import { OWNER } from '../support.ts'

export { failure, OWNER, sh } from '../support.ts'

// An engine is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

const IMAGE = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'
/** Short, where no other host is near. */
const SETTLE_MS = 50

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

export interface OpenOptions extends Partial<E2bBackendOptions> {
  limits?: Partial<WorkspaceLimits>
}

/** A stand-in and a gateway of a test's own. */
export async function createWorld() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'at-e2b-')))
  execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'gateway', '--out', base])
  const stateDir = join(base, 'state')
  let standIn = await startE2b({ port: 0, stateDir, mounts: [] })
  const { url } = standIn
  const account = { apiKey: 'e2b_test', apiUrl: url, sandboxUrl: url }
  const warnings: string[] = []
  const logger: Logger = { ...silentLogger, warn: (_, message) => void warnings.push(message), child: () => logger }

  const backend = (options: Partial<E2bBackendOptions> = {}): Backend =>
    createE2bBackend({ ...account, settleMs: SETTLE_MS, logger, ...options })
  const spec = (id: string, more: Partial<EnvironmentSpec> = {}): EnvironmentSpec => ({
    ...{ id, name: id, owner: OWNER },
    ...more,
  })
  const open = (id: string, options: OpenOptions = {}, more: Partial<EnvironmentSpec> = {}): Promise<Workspace> => {
    const { limits = {}, ...rest } = options
    return openWorkspace(backend(rest), spec(id, more), {
      limits: { ...DEFAULT_LIMITS, ...limits },
      ...{ env: {}, owner: 'test', confine: 'none', goodbye: 'end', logger },
      connect: (environment, given) => connectGateway(environment, { ...given, gatewayScript: join(base, 'gateway.mjs') }),
    })
  }
  return {
    ...{ base, script: join(base, 'gateway.mjs'), account, url, backend, spec, open, warnings },
    /** Makes the stand-in misbehave. */
    fault: (rule: FaultRule) => standIn.faults.add(rule),
    get faults() {
      return standIn.faults
    },
    /** Done behind the client's back. */
    behind: async (deed: 'pause' | 'expire' | 'kill', id: string) =>
      void (await fetch(`${url}/__faults/${deed}/${id}`, { method: 'POST' })),
    /** The same service with the same state, a moment later. */
    async restart() {
      await standIn[Symbol.asyncDispose]()
      standIn = await startE2b({ port: Number(new URL(url).port), stateDir, mounts: [] })
    },
    /** All sandboxes of the account. */
    sandboxes: () => Sandbox.list({ ...account, order: 'asc' } as object).nextItems(),
    async clear() {
      standIn.faults.clear()
      warnings.length = 0
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
