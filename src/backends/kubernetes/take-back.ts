import type { V1Pod } from '@kubernetes/client-node'
import { toWorkspaceError } from '../../lib/errors.ts'
import { deleteClaim, readClaim } from './claims.ts'
import { type KubernetesContext, nodeLostMs } from './context.ts'
import { deletePod, readPod, waitGone } from './pods.ts'
import { recordOf, STARTED, USED_BY } from './record.ts'

const ATTEMPTS = 5

interface HalfMade {
  name: string
  /** Who gives up. */
  user: string
  pod: V1Pod | undefined
}

/** Removes a Pod that came to nothing, and a claim on which no gateway ever ran, unless others came to use them meanwhile. */
export async function takeBack(context: KubernetesContext, { name, user, pod }: HalfMade): Promise<void> {
  const { cluster, logger } = context
  const mine = async () => {
    const claim = await readClaim(cluster, name)
    return claim?.metadata?.annotations?.[USED_BY] === user ? claim : undefined
  }
  try {
    if ((await mine()) === undefined) return
    if (pod !== undefined) {
      await deletePod(cluster, pod)
      await waitGone(cluster, pod, { limitMs: nodeLostMs(context) })
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const claim = await mine()
      if (claim?.metadata?.annotations?.[STARTED] !== 'no') return
      // Somebody else's Pod of that name does not use it.
      if (recordOf((await readPod(cluster, name))?.metadata) !== undefined) return
      // Its status may change meanwhile.
      if (await deleteClaim(cluster, name, { only: claim })) return
    }
  } catch (error) {
    logger.warn({ pod: name, reason: toWorkspaceError(error).message }, 'what was half made was left')
  }
}
