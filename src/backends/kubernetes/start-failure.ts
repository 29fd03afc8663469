import type { V1Pod } from '@kubernetes/client-node'
import { formatMs } from '../../lib/deadline.ts'
import { type ErrorCode, WorkspaceError } from '../../lib/errors.ts'
import { readClaim } from './claims.ts'
import type { Cluster } from './cluster.ts'
import { eventsOf, lastWarning } from './events.ts'
import { CONTAINER } from './pod-spec.ts'
import { containerStatus, whyEnded } from './pod-state.ts'

/** Why a Pod does not run yet. */
export interface Obstacle {
  code: ErrorCode
  /** As the cluster has it. */
  reason: string
  hint: string
  /** How long it may pass by itself, in ms; absent: as long as a Pod may take to start. */
  patienceMs?: number
}

const IMAGE_HINT =
  'Name an image that the nodes can pull (or have) with `image`; for a private registry set `imagePullSecrets`, for one that was loaded onto the nodes `imagePullPolicy`.'
const CONFIG_HINT = 'Correct what it names: a secret, `podSecurityContext` (runAsUser), `podPatch` or the image.'
const SCHEDULE_HINT =
  'Make room (close workspaces, add nodes), or ask for what the nodes have: `resources`, `nodeSelector`, `tolerations`, `storageClass`.'
const VOLUME_HINT = 'Name a class that is there with `storageClass` (kubectl get storageclass), and a size that it can give.'

/** A pull that failed for good, in the words of the usual runtimes and registries. */
const NO_SUCH_IMAGE =
  /not found|manifest unknown|pull access denied|unauthorized|authentication required|denied: |insufficient_scope/i
const PULL_PATIENCE_MS = 20_000
const CONFIG_PATIENCE_MS = 5_000

/** What keeps a Pod from running, by its own status; `undefined` where nothing is known to. */
export function obstacleOf(pod: V1Pod): Obstacle | undefined {
  const waiting = containerStatus(pod)?.state?.waiting
  if (waiting?.reason !== undefined && waiting.reason !== 'ContainerCreating' && waiting.reason !== 'PodInitializing') {
    return waitingObstacle(waiting.reason, waiting.message ?? '')
  }
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'False') return undefined
  return { code: 'unavailable', reason: `${scheduled.reason}: ${scheduled.message ?? ''}`, hint: SCHEDULE_HINT }
}

function waitingObstacle(reason: string, message: string): Obstacle {
  const text = message === '' ? reason : `${reason}: ${message}`
  if (
    reason === 'InvalidImageName' ||
    reason === 'ErrImageNeverPull' ||
    /^(ErrImage|ImagePull|ImageInspect|RegistryUnav)/.test(reason)
  ) {
    const forGood = reason === 'InvalidImageName' || reason === 'ErrImageNeverPull' || NO_SUCH_IMAGE.test(message)
    return { code: 'not_found', reason: text, hint: IMAGE_HINT, patienceMs: forGood ? 0 : PULL_PATIENCE_MS }
  }
  if (/^(CreateContainer|RunContainer|PreStartHook|PostStartHook|CrashLoop)/.test(reason)) {
    return { code: 'precondition_failed', reason: text, hint: CONFIG_HINT, patienceMs: CONFIG_PATIENCE_MS }
  }
  return { code: 'unavailable', reason: text, hint: 'See kubectl describe pod.' }
}

/** The error for a Pod that met an obstacle for too long, with what the cluster's events add. */
export async function startFailure(
  cluster: Cluster,
  pod: V1Pod,
  { obstacle, waitedMs }: { obstacle: Obstacle | undefined; waitedMs: number },
): Promise<WorkspaceError> {
  const { name = '' } = pod.metadata ?? {}
  const claim = await claimTrouble(cluster, pod)
  if (claim !== undefined) return new WorkspaceError('unavailable', `Pod ${name} has no volume: ${claim}.`, { hint: VOLUME_HINT })
  const image = pod.spec?.containers.find(each => each.name === CONTAINER)?.image
  const what =
    obstacle?.code === 'not_found'
      ? `Pod ${name}: the image ${JSON.stringify(image)} can't be pulled`
      : `Pod ${name} does not start`
  const warning = lastWarning(await eventsOf(cluster, pod.metadata))
  if (obstacle !== undefined) {
    const { code, reason, hint } = obstacle
    const more = warning === undefined || reason.includes(warning.slice(-60)) ? '' : ` (${warning})`
    return new WorkspaceError(code, `${what}: ${reason.trim().replace(/\.$/, '')}${more}.`, { hint })
  }
  return new WorkspaceError('timeout', `${what} within ${formatMs(waitedMs)}${warning === undefined ? '' : `: ${warning}`}.`, {
    hint: 'See kubectl describe pod. A slow pull or volume may need a longer kubernetes.startTimeoutMs.',
  })
}

/** What is reported of a claim that is not bound. */
async function claimTrouble(cluster: Cluster, pod: V1Pod): Promise<string | undefined> {
  const claim = await claimOf(cluster, pod)
  if (claim?.status?.phase !== 'Pending') return undefined
  const warning = lastWarning(await eventsOf(cluster, claim.metadata))
  return warning === undefined ? undefined : `claim ${claim.metadata?.name} is pending: ${warning}`
}

/** Whether the scheduler waits for a volume that is there: it may miss one that is made while it looks, and waits for minutes then. */
export async function isOverlooked(cluster: Cluster, pod: V1Pod): Promise<boolean> {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'False' || !/persistentvolume|\bpvc?\b/i.test(scheduled.message ?? '')) return false
  return (await claimOf(cluster, pod))?.status?.phase === 'Bound'
}

/** Whether the claim waits for something that there is not. */
export async function isHopeless(cluster: Cluster, pod: V1Pod): Promise<boolean> {
  return /not found/.test((await claimTrouble(cluster, pod)) ?? '')
}

function claimOf(cluster: Cluster, pod: V1Pod) {
  return readClaim(cluster, pod.metadata?.name ?? '', { retryMs: 0 }).catch(() => undefined)
}

/** The error for a container that ended before its gateway was there. */
export function endedEarly(pod: V1Pod): WorkspaceError {
  const why = whyEnded(pod) ?? 'it ended'
  const noShell = /exec: "sh"|no such file or directory|executable file not found/.test(why)
  const oom = why.includes('OOM-killed')
  const hint = noShell
    ? 'The image needs a POSIX shell named sh.'
    : oom
      ? 'Allow more memory in `resources`.'
      : 'See kubectl describe pod.'
  const code: ErrorCode = noShell ? 'unsupported' : oom ? 'out_of_memory' : 'unavailable'
  return new WorkspaceError(code, `Pod ${pod.metadata?.name} ended at its start: ${why}.`, { hint })
}
