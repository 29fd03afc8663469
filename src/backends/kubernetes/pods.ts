import type { V1Pod } from '@kubernetes/client-node'
import { formatMs, sleep } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import type { Cluster, RequestCall } from './cluster.ts'
import { STOP_SECONDS } from './pod-spec.ts'
import { whyEnded } from './pod-state.ts'

const FIRST_POLL_MS = 60
const LONGEST_POLL_MS = 1_000

/** The Pod; `undefined` when there is none of that name. */
export async function readPod(cluster: Cluster, name: string, call: RequestCall = {}): Promise<V1Pod | undefined> {
  const { namespace } = cluster
  try {
    return await cluster.call(`Pod ${name}`, (api, options) => api.readNamespacedPod({ name, namespace }, options), call)
  } catch (error) {
    if ((error as WorkspaceError).code === 'not_found') return undefined
    throw error
  }
}

/** Makes a Pod; `undefined` when there is one of that name. */
export async function createPod(cluster: Cluster, body: V1Pod, call: CallOptions = {}): Promise<V1Pod | undefined> {
  const { namespace } = cluster
  const what = `Pod ${body.metadata?.name}`
  try {
    return await cluster.call(what, (api, options) => api.createNamespacedPod({ namespace, body }, options), call)
  } catch (error) {
    if ((error as WorkspaceError).code === 'already_exists') return undefined
    throw error
  }
}

/** Tells a Pod to end unless another one has its name by now; with `force` the cluster forgets it without asking its node. */
export async function deletePod(
  cluster: Cluster,
  pod: V1Pod,
  { force = false, signal }: CallOptions & { force?: boolean } = {},
): Promise<void> {
  const [name, uid, namespace] = [pod.metadata?.name ?? '', pod.metadata?.uid ?? '', cluster.namespace]
  const body = { gracePeriodSeconds: force ? 0 : STOP_SECONDS, preconditions: { uid } }
  try {
    await cluster.call(`Pod ${name}`, (api, options) => api.deleteNamespacedPod({ name, namespace, body }, options), { signal })
  } catch (error) {
    const { code } = error as WorkspaceError
    // Gone, or another one by now.
    if (code !== 'not_found' && code !== 'already_exists') throw error
  }
}

interface GoneOptions extends CallOptions {
  /** Beyond the Pod's own grace period. */
  limitMs: number
  force?: boolean | undefined
}

/** Waits until a Pod is gone. Throws `node_lost` when its node does not confirm that; with `force` it is then gone all the same. */
export async function waitGone(cluster: Cluster, pod: V1Pod, { signal, limitMs, force }: GoneOptions): Promise<void> {
  const [name, uid] = [pod.metadata?.name ?? '', pod.metadata?.uid ?? '']
  const graceMs = (pod.metadata?.deletionGracePeriodSeconds ?? STOP_SECONDS) * 1_000
  const end = Date.now() + graceMs + limitMs
  let last = pod
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, LONGEST_POLL_MS)) {
    await sleep(pollMs, { signal })
    const now = await readPod(cluster, name, { signal })
    if (now === undefined || now.metadata?.uid !== uid) return
    last = now
    if (Date.now() > end) break
  }
  if ((last.metadata?.finalizers?.length ?? 0) > 0) throw held(last)
  if (!force) throw nodeLost(last, `does not confirm after ${formatMs(graceMs + limitMs)} that it is gone`)
  await deletePod(cluster, last, { force: true, signal })
}

/** The error for a Pod whose node is not to be reached. */
export function nodeLost({ metadata, spec }: V1Pod, what: string): WorkspaceError {
  return new WorkspaceError('node_lost', `Pod ${metadata?.name}: its node ${spec?.nodeName ?? ''} ${what}.`, {
    hint: 'See how the node is: kubectl describe node. When it is surely down, set kubernetes.forceLostNode, or kubectl delete pod --force.',
  })
}

function held(pod: V1Pod): WorkspaceError {
  const { name, finalizers } = pod.metadata ?? {}
  const why = whyEnded(pod) ?? 'it was deleted'
  return new WorkspaceError('unavailable', `Pod ${name} does not go (${why}): held by ${finalizers?.join(', ')}.`, {
    hint: 'What set the finalizer has to take it off.',
  })
}
