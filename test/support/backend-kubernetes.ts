import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { resourceName } from '../../src/backends/kubernetes/names.ts'
import { annotationsOf, labelsOf, newRecord } from '../../src/backends/kubernetes/record.ts'
import { DEFAULT_NAME, directoryId } from '../../src/manager/ids.ts'
import type { MatrixBackend } from './backends.ts'
import { CLUSTER_IMAGE, type ClusterSpace, clusterMissing, createClusterSpace, kubectl } from './cluster.ts'
import { contained } from './contained.ts'
import type { World } from './world.ts'

/** Servers that tests nest are started inside under their own paths. */
const TESTS = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

const spaces = new Map<string, ClusterSpace>()

function unavailable(): string | undefined {
  if (process.platform !== 'linux') return 'the tests look at processes in Pods from a Linux host'
  return clusterMissing() || undefined
}

/** The operator's settings: what the world has on this host is seen in the Pod, and files belong to the same user. */
function settings(world: World): object {
  const user = process.getuid?.() ?? 0
  return {
    podSecurityContext: { runAsNonRoot: user !== 0, runAsUser: user, runAsGroup: process.getgid?.() ?? 0, fsGroup: null },
    podPatch: {
      spec: {
        volumes: [
          { name: 'world', hostPath: { path: world.root } },
          { name: 'tests', hostPath: { path: TESTS } },
        ],
        containers: [
          {
            name: 'workspace',
            volumeMounts: [
              { name: 'world', mountPath: world.root },
              { name: 'tests', mountPath: TESTS, readOnly: true },
            ],
          },
        ],
      },
    },
  }
}

/** The world's project as the volume of the default workspace, as an operator would hand over files that there are already. */
function handOver(world: World, space: ClusterSpace): void {
  const owner = { user: 'local', agent: '', session: '' }
  const record = newRecord({ id: directoryId('kubernetes', owner.user, world.project), name: DEFAULT_NAME, owner })
  const name = resourceName(record.id)
  const storage = { accessModes: ['ReadWriteOnce'], storageClassName: '' }
  const items = [
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: space.namespace } },
      spec: {
        ...{
          ...storage,
          capacity: { storage: '5Gi' },
          persistentVolumeReclaimPolicy: 'Retain',
          hostPath: { path: world.project },
        },
        claimRef: { namespace: space.namespace, name },
      },
    },
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: { name, labels: labelsOf(record), annotations: annotationsOf(record) },
      spec: { ...storage, volumeName: space.namespace, resources: { requests: { storage: '5Gi' } } },
    },
  ]
  space.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
}

/** Pods of a cluster on this host, each world in a namespace of its own, with the rights of deploy/rbac.yaml alone. */
export const kubernetes: MatrixBackend = {
  dear: true,
  unavailable,
  env(world) {
    const space = createClusterSpace(join(world.root, 'kubeconfig'))
    spaces.set(world.root, space)
    handOver(world, space)
    return {
      ATELIER_BACKEND: 'kubernetes',
      ATELIER_IMAGE: CLUSTER_IMAGE,
      KUBECONFIG: space.kubeconfig,
      ATELIER_KUBERNETES: JSON.stringify(settings(world)),
    }
  },
  workdir: () => '/workspace',
  alive: (world, pid) => contained(world).some(({ inside }) => inside === pid),
  processes: contained,
  left: async world => spaces.get(world.root)?.left() ?? [],
  async clear(world) {
    const space = spaces.get(world.root)
    space?.remove()
    if (space !== undefined) kubectl(['delete', 'persistentvolume', space.namespace, '--ignore-not-found', '--wait=false'])
  },
}
