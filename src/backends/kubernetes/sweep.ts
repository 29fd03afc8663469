import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, Leftover } from '../backend.ts'
import { deleteClaim } from './claims.ts'
import type { KubernetesContext } from './context.ts'
import { listClaims, listPods } from './list.ts'
import { containerStatus, lifeOf } from './pod-state.ts'
import { deletePod, readPod } from './pods.ts'
import { recordOf, STARTED, USED_AT } from './record.ts'
import { DEFAULT_START_MS } from './settings.ts'

/** A Pod that ended is kept for this long to be looked at, and no host is at work on anything for longer. */
const KEPT_MS = 3_600_000

type Prune = CallOptions & { dryRun: boolean }

/** Removes what hosts that never came back left in the namespace; gives how many things went. */
export async function sweepCluster(context: KubernetesContext): Promise<number> {
  let removed = 0
  for await (const _ of pruneCluster(context, { dryRun: false })) removed += 1
  if (removed > 0) context.logger.info({ removed }, 'Pods and claims of hosts that did not come back were removed')
  return removed
}

/**
 * Gives what hosts that never came back left, by label alone, and removes each unless `dryRun`: Pods that ended or never came to run,
 * and claims on which no gateway ever ran. A claim that was used holds a workspace's files and stays.
 */
export async function* pruneCluster(context: KubernetesContext, options: Prune): AsyncIterable<Leftover> {
  const going = new Set<string>()
  for await (const pod of listPods(context.cluster, undefined, options)) {
    const reason = whyPodGoes(context, pod)
    const name = pod.metadata?.name ?? ''
    if (reason === undefined || !(await done(context, name, options, () => deletePod(context.cluster, pod, options)))) continue
    going.add(pod.metadata?.uid ?? '')
    yield { kind: 'Pod', name, action: 'remove', reason }
  }
  for await (const claim of listClaims(context.cluster, undefined, options)) {
    const name = claim.metadata?.name ?? ''
    if (!isHalfMade(context, claim)) continue
    const pod = await readPod(context.cluster, name, options)
    const taken = recordOf(pod?.metadata) !== undefined && pod?.metadata?.deletionTimestamp === undefined
    if (taken && !going.has(pod?.metadata?.uid ?? '')) continue
    // Only as it was when it was looked at: a host that came meanwhile has marked it.
    if (!(await done(context, name, options, () => deleteClaim(context.cluster, name, { only: claim })))) continue
    yield { kind: 'volume claim', name, action: 'remove', reason: 'its making was broken off, and nothing ever ran on it' }
  }
}

/** `undefined`: it stays. */
function whyPodGoes(context: KubernetesContext, pod: V1Pod): string | undefined {
  const life = lifeOf(pod)
  const since = containerStatus(pod)?.state?.terminated?.finishedAt ?? pod.metadata?.creationTimestamp
  if (isYoung(context, since)) return undefined
  if (life === 'ended') return 'it ended more than an hour ago, and its files are in its volume'
  return life === 'pending' ? 'it never came to run, and nobody waits for it any more' : undefined
}

function isHalfMade(context: KubernetesContext, { metadata }: V1PersistentVolumeClaim): boolean {
  if (recordOf(metadata) === undefined || metadata?.deletionTimestamp !== undefined) return false
  const { [STARTED]: started, [USED_AT]: used } = metadata?.annotations ?? {}
  if (started !== 'no') return false
  return !isYoung(context, metadata?.creationTimestamp) && (used === undefined || !isYoung(context, used))
}

/** Whether a host may still be at work on it; what has no readable time counts as young. */
function isYoung({ settings }: KubernetesContext, since: Date | string | undefined): boolean {
  const keptMs = Math.max(KEPT_MS, 2 * (settings.startTimeoutMs ?? DEFAULT_START_MS))
  return !(Date.now() - new Date(since ?? Number.NaN).getTime() >= keptMs)
}

/** Whether it is gone, or would be; what can't be removed is told in the log and left for the next time. */
async function done(
  { logger }: KubernetesContext,
  name: string,
  { dryRun }: Prune,
  remove: () => Promise<unknown>,
): Promise<boolean> {
  if (dryRun) return true
  try {
    return (await remove()) !== false
  } catch (error) {
    logger.warn({ name, reason: toWorkspaceError(error).message }, 'not pruned')
    return false
  }
}
