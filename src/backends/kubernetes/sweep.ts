import { toWorkspaceError } from '../../lib/errors.ts'
import type { KubernetesContext } from './context.ts'
import { listPods } from './list.ts'
import { containerStatus, lifeOf } from './pod-state.ts'
import { deletePod } from './pods.ts'

/** A Pod that ended, or never came to run, is kept for this long to be looked at; its files are in its volume. */
const KEPT_MS = 3_600_000

/** Removes Pods, by label alone, that ended by themselves or that hosts which never came back left unstarted. Volumes stay. */
export async function sweepPods(context: KubernetesContext): Promise<number> {
  let removed = 0
  for await (const pod of listPods(context.cluster)) {
    const life = lifeOf(pod)
    const since = containerStatus(pod)?.state?.terminated?.finishedAt ?? pod.metadata?.creationTimestamp ?? Date.now()
    if ((life !== 'ended' && life !== 'pending') || Date.now() - new Date(since).getTime() < KEPT_MS) continue
    try {
      await deletePod(context.cluster, pod)
      removed += 1
    } catch (error) {
      context.logger.debug({ pod: pod.metadata?.name, reason: toWorkspaceError(error).message }, 'not swept')
    }
  }
  if (removed > 0) context.logger.info({ removed }, 'Pods of hosts that did not come back were removed')
  return removed
}
