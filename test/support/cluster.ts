import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const RBAC = fileURLToPath(new URL('../../deploy/rbac.yaml', import.meta.url))
/** Image of test Pods; it is on the cluster's node. */
export const CLUSTER_IMAGE = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'

/** Runs kubectl as the administrator and gives what it printed. */
export function kubectl(args: readonly string[], input?: string): string {
  return execFileSync('kubectl', args, {
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(input === undefined ? {} : { input }),
  })
}

let missing: string | undefined

/** Why no cluster can be used here; empty where one can. It is found by `KUBECONFIG`. */
export function clusterMissing(): string {
  missing ??= whatIsMissing()
  return missing
}

function whatIsMissing(): string {
  if (!process.env.KUBECONFIG) return 'KUBECONFIG names no cluster'
  try {
    kubectl(['get', '--raw', '/readyz', '--request-timeout=5s'])
    return ''
  } catch (error) {
    const said = String((error as { stderr?: string }).stderr ?? error).trim()
    return `the cluster of KUBECONFIG does not answer: ${said.split('\n').at(-1)}`
  }
}

/** A namespace of a test's own, and a kubeconfig whose user has the rights of deploy/rbac.yaml there and no others. */
export interface ClusterSpace {
  namespace: string
  kubeconfig: string
  /** Runs kubectl in it as the administrator. */
  kubectl(args: readonly string[], input?: string): string
  /** Names of Pods and volume claims that are not on their way out. */
  left(): string[]
  /** Takes all of it away, and does not wait. */
  remove(): void
}

/** Makes one; the kubeconfig is written to `path`. With `bare` the service account has no rights at all. */
export function createClusterSpace(path: string, { bare = false } = {}): ClusterSpace {
  const namespace = `at-${randomBytes(5).toString('hex')}`
  kubectl(['create', 'namespace', namespace])
  const inside = (args: readonly string[], input?: string) => kubectl(['-n', namespace, ...args], input)
  const rbac = readFileSync(RBAC, 'utf8')
  inside(['apply', '-f', '-'], bare ? (rbac.split('---')[0] ?? '') : rbac)
  const token = inside(['create', 'token', 'atelier', '--duration=2h']).trim()
  const admin = JSON.parse(kubectl(['config', 'view', '--raw', '--flatten', '--minify', '-o', 'json'])) as {
    clusters: { cluster: object }[]
  }
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
    clusters: [{ name: 'test', cluster: admin.clusters[0]?.cluster }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
  }
  writeFileSync(path, JSON.stringify(config))
  chmodSync(path, 0o600)
  return {
    ...{ namespace, kubeconfig: path, kubectl: inside },
    left() {
      const { items } = JSON.parse(inside(['get', 'pods,pvc', '-o', 'json'])) as {
        items: { kind: string; metadata: { name: string; deletionTimestamp?: string } }[]
      }
      return items.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    },
    remove() {
      inside(['delete', 'pods', '--all', '--force', '--grace-period=0', '--wait=false'])
      inside(['delete', 'pvc', '--all', '--wait=false'])
      kubectl(['delete', 'namespace', namespace, '--wait=false'])
    },
  }
}
