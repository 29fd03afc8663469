import type { V1Pod } from '@kubernetes/client-node'
import type { CallOptions, EnvironmentInfo } from '../backend.ts'
import { deleteClaim, readClaim, waitClaimGone } from './claims.ts'
import { type KubernetesContext, nodeLostMs } from './context.ts'
import { resourceName } from './names.ts'
import { deletePod, readPod, waitGone } from './pods.ts'
import { type KubernetesRecord, recordOf } from './record.ts'

/** Removes a workspace's Pod and claim, and the files with it; what has their name and is somebody else's stays. */
export async function removeWorkspace(
  context: KubernetesContext,
  { id, owner }: Pick<EnvironmentInfo, 'id' | 'owner'>,
  call: CallOptions = {},
): Promise<void> {
  const { cluster } = context
  const name = resourceName(id)
  const isOurs = (record: KubernetesRecord | undefined) => record?.id === id && record.owner.user === owner.user
  const pod = await readPod(cluster, name, call)
  if (pod !== undefined && isOurs(recordOf(pod.metadata))) {
    await endPod(context, pod, call)
  }
  if (isOurs(recordOf((await readClaim(cluster, name, call))?.metadata))) await removeClaim(context, name, call)
}

/** Ends a Pod and waits until it is gone. */
export async function endPod(context: KubernetesContext, pod: V1Pod, call: CallOptions = {}): Promise<void> {
  const { cluster, settings } = context
  await deletePod(cluster, pod, call)
  await waitGone(cluster, pod, { limitMs: nodeLostMs(context), force: settings.forceLostNode, ...call })
}

/** Removes a claim, and its files with it, and waits until it is gone. */
export async function removeClaim(context: KubernetesContext, name: string, call: CallOptions = {}): Promise<void> {
  await deleteClaim(context.cluster, name, call)
  await waitClaimGone(context.cluster, name, { limitMs: nodeLostMs(context), ...call })
}
