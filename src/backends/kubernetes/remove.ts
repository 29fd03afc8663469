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
  const { cluster, settings } = context
  const [name, limitMs] = [resourceName(id), nodeLostMs(context)]
  const isOurs = (record: KubernetesRecord | undefined) => record?.id === id && record.owner.user === owner.user
  const pod = await readPod(cluster, name, call)
  if (pod !== undefined && isOurs(recordOf(pod.metadata))) {
    await deletePod(cluster, pod, call)
    await waitGone(cluster, pod, { limitMs, force: settings.forceLostNode, ...call })
  }
  if (!isOurs(recordOf((await readClaim(cluster, name, call))?.metadata))) return
  await deleteClaim(cluster, name, call)
  await waitClaimGone(cluster, name, { limitMs, ...call })
}
