import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { V1Pod } from '@kubernetes/client-node'
import { vi } from 'vitest'
import type { Backend, EnvironmentSpec } from '../../../src/backends/backend.ts'
import { createKubernetesBackend, type KubernetesBackendOptions } from '../../../src/backends/kubernetes/kubernetes.ts'
import { resourceName } from '../../../src/backends/kubernetes/names.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { gatewayBoot } from '../../../src/link/boot.ts'
import { DEFAULT_LIMITS, type WorkspaceLimits } from '../../../src/workspace/limits.ts'
import { openWorkspace, type Workspace, type WorkspaceOptions } from '../../../src/workspace/workspace.ts'
import { CLUSTER_IMAGE, clusterMissing, createClusterSpace } from '../../support/cluster.ts'
import { OWNER } from '../support.ts'

export { failure, OWNER, sh } from '../support.ts'

// A cluster is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

export const IMAGE = CLUSTER_IMAGE
/** Why nothing can be tried on a real cluster here; empty where it can. */
export const MISSING = clusterMissing()
/** Title of a suite on a real cluster, with the reason where it is skipped. */
export const onCluster = (title: string): string => (MISSING === '' ? title : `${title} (skipped: ${MISSING})`)

export interface WorldOptions extends Partial<KubernetesBackendOptions> {
  limits?: Partial<WorkspaceLimits>
}

/** A namespace, a data directory and a gateway of a test's own; the backend has the rights of deploy/rbac.yaml and no others. */
export function createWorld() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'at-k8s-')))
  execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'gateway', '--out', base])
  const space = createClusterSpace(join(base, 'kubeconfig'))
  const [dataDir, script] = [join(base, 'data'), join(base, 'gateway.mjs')]

  const backend = (options: Partial<KubernetesBackendOptions> = {}): Backend =>
    createKubernetesBackend({ dataDir, kubeconfig: space.kubeconfig, image: IMAGE, logger: silentLogger, ...options })
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
      ...{ limits: { ...DEFAULT_LIMITS, ...limits }, env: {}, owner: 'test', confine: 'none', goodbye: 'end' },
      logger: silentLogger,
      ...more,
    })
  }
  return {
    ...{ base, dataDir, script, space, backend, spec, open },
    left: space.left,
    /** The kubeconfig that the backend uses. */
    config: () => readFileSync(space.kubeconfig, 'utf8'),
    kubectl: space.kubectl,
    /** The Pod of a workspace as the cluster has it. */
    pod: (id: string): V1Pod => JSON.parse(space.kubectl(['get', 'pod', resourceName(id), '-o', 'json'])) as V1Pod,
    writeConfig: (text: string) => writeFileSync(space.kubeconfig, text),
    /** Takes everything out of the namespace. */
    clear() {
      space.kubectl(['delete', 'pods', '--all', '--force', '--grace-period=0'])
      space.kubectl(['delete', 'pvc', '--all', '--timeout=60s'])
    },
    remove() {
      space.remove()
      rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

export type World = ReturnType<typeof createWorld>
