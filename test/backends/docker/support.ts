import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Dockerode from 'dockerode'
import { vi } from 'vitest'
import type { Backend, EnvironmentSpec } from '../../../src/backends/backend.ts'
import { createDockerBackend, type DockerBackendOptions } from '../../../src/backends/docker/docker.ts'
import { connectEngine } from '../../../src/backends/docker/engine.ts'
import type { DockerVariables } from '../../../src/backends/docker/settings.ts'
import { toWorkspaceError } from '../../../src/lib/errors.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { gatewayBoot } from '../../../src/link/boot.ts'
import { DEFAULT_LIMITS, type WorkspaceLimits } from '../../../src/workspace/limits.ts'
import { openWorkspace, type Workspace, type WorkspaceOptions } from '../../../src/workspace/workspace.ts'
import { OWNER } from '../support.ts'

export { failure, OWNER, sh } from '../support.ts'

// An engine is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

export const IMAGE = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'
export const ENV = process.env as DockerVariables

/** Why nothing can be tried on a real engine here; empty where it can. */
export const MISSING = await whatIsMissing()
/** Title of a suite on a real engine, with the reason where it is skipped. */
export const onEngine = (title: string): string => (MISSING === '' ? title : `${title} (skipped: ${MISSING})`)

async function whatIsMissing(): Promise<string> {
  try {
    const { docker } = await connectEngine({ env: ENV })
    await docker.getImage(IMAGE).inspect()
    return ''
  } catch (error) {
    return toWorkspaceError(error).message
  }
}

export interface WorldOptions extends Partial<DockerBackendOptions> {
  limits?: Partial<WorkspaceLimits>
}

/** A data directory and a gateway of a test's own; by default on the engine that all tests share. */
export async function createWorld({ env = ENV, image = IMAGE }: { env?: DockerVariables; image?: string } = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'at-dk-')))
  execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'gateway', '--out', base])
  const { docker } = await connectEngine({ env })
  const dataDir = join(base, 'data')
  const script = join(base, 'gateway.mjs')

  const backend = (options: Partial<DockerBackendOptions> = {}): Backend =>
    createDockerBackend({ dataDir, env, image, logger: silentLogger, ...options })
  const spec = (id: string, more: Partial<EnvironmentSpec> = {}, limits: Partial<WorkspaceLimits> = {}): EnvironmentSpec => ({
    ...{ id, name: id, owner: OWNER },
    boot: gatewayBoot({ ...DEFAULT_LIMITS, ...limits }, script),
    ...more,
  })
  const open = (
    id: string,
    options: WorldOptions = {},
    more: Partial<EnvironmentSpec & WorkspaceOptions> = {},
  ): Promise<Workspace> => {
    const { limits = {}, ...rest } = options
    return openWorkspace(backend(rest), spec(id, more, limits), {
      ...{
        limits: { ...DEFAULT_LIMITS, ...limits },
        env: {},
        owner: 'test',
        confine: 'none',
        goodbye: 'end',
        logger: silentLogger,
      },
      ...more,
    })
  }
  const mine = { filters: { label: [`atelier.data-dir=${dataDir}`] } }
  const world = {
    ...{ base, dataDir, script, docker, backend, spec, open },
    /** Containers of this data directory, whatever their state. */
    containers: () => docker.listContainers({ all: true, ...mine }),
    async container(): Promise<Dockerode.Container> {
      const [found] = await world.containers()
      if (found === undefined) throw new Error('there is no container')
      return docker.getContainer(found.Id)
    },
    /** Names of the engine's volumes that no container has, but for those of other data directories. */
    volumes: async () =>
      ((await docker.listVolumes({ filters: { dangling: ['true'] } })).Volumes ?? [])
        .filter(({ Labels }) => (Labels?.['atelier.data-dir'] ?? dataDir) === dataDir)
        .map(({ Name }) => Name)
        .sort(),
    async clear() {
      for (const { Id } of await world.containers())
        await docker
          .getContainer(Id)
          .remove({ force: true, v: true })
          .catch(() => {})
    },
    async remove() {
      await world.clear()
      rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
  return world
}

export type World = Awaited<ReturnType<typeof createWorld>>
