import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import type { EnvironmentInfo, EnvironmentState } from '../backend.ts'
import { CONTAINER, WORKDIR } from './pod-spec.ts'
import { GATEWAY_FOLDER, NODE, SCRIPT } from './program.ts'
import type { KubernetesRecord } from './record.ts'

/** Where a Pod is in its life, sidecars left aside. */
export type PodLife = 'pending' | 'running' | 'ended' | 'terminating'

const KILLED = 137
const TERMINATED = 143

/** The state of the container that the workspace is. */
export function containerStatus(pod: V1Pod): V1ContainerStatus | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === CONTAINER)
}

/** The image that the workspace's container was made from. */
export function imageOf({ spec }: V1Pod): string | undefined {
  return spec?.containers.find(({ name }) => name === CONTAINER)?.image
}

/** Where a Pod is in its life; what is told to end is `terminating`, whatever still runs. */
export function lifeOf(pod: V1Pod): PodLife {
  if (pod.metadata?.deletionTimestamp !== undefined) return 'terminating'
  const phase = pod.status?.phase
  const state = containerStatus(pod)?.state
  if (phase === 'Failed' || phase === 'Succeeded' || state?.terminated !== undefined) return 'ended'
  return state?.running === undefined ? 'pending' : 'running'
}

/** Whether the node that a Pod runs on has stopped telling how it is. */
export function isNodeLost(pod: V1Pod): boolean {
  if (pod.status?.reason === 'NodeLost') return true
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')
  const container = containerStatus(pod)
  // Others of the Pod may not be ready yet: the node itself says so.
  if (ready?.reason === 'ContainersNotReady' || ready?.reason === 'ReadinessGatesNotReady') return false
  // A container that runs and has no probe is ready; only the node's controller says otherwise.
  return ready?.status !== 'True' && container?.ready === true && container.state?.running !== undefined
}

/** Why a Pod that ended or is being removed has come to that, as the end of a sentence; `undefined` for one that does neither. */
export function whyEnded(pod: V1Pod): string | undefined {
  const { status } = pod
  const disrupted = status?.conditions?.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True')
  const terminated = containerStatus(pod)?.state?.terminated
  // The runtime says so of each container in which something was OOM-killed, however it ended.
  if (terminated?.reason === 'OOMKilled' && terminated.exitCode !== 0)
    return `it ran out of memory and was OOM-killed${memoryLimit(pod)}`
  if (status?.reason === 'Evicted') return `it was evicted: ${clean(status.message)}`
  if (disrupted !== undefined) return `${DISRUPTION[disrupted.reason ?? ''] ?? 'it was disrupted'}: ${clean(disrupted.message)}`
  if (status?.reason !== undefined) return `${status.reason}: ${clean(status.message)}`
  if (terminated === undefined) return pod.metadata?.deletionTimestamp === undefined ? undefined : 'it was deleted'
  const { exitCode, message } = terminated
  if (exitCode === 0 || exitCode === TERMINATED) return 'it was stopped'
  if (exitCode === KILLED) return 'it was killed'
  return `it ended with exit code ${exitCode}${message === undefined ? '' : `: ${clean(message)}`}`
}

const DISRUPTION: Readonly<Record<string, string>> = {
  PreemptionByScheduler: 'it was preempted by a Pod of a higher priority',
  DeletionByTaintManager: 'its node was tainted',
  EvictionByEvictionAPI: 'it was evicted',
  DeletionByPodGC: 'its node is gone',
  TerminationByKubelet: 'its node ended it',
}

function memoryLimit({ spec }: V1Pod): string {
  const limit = spec?.containers.find(({ name }) => name === CONTAINER)?.resources?.limits?.memory
  return limit === undefined ? '' : ` (limit ${limit})`
}

function clean(text = ''): string {
  return text.trim().replace(/\.$/, '').slice(-800)
}

interface Seen {
  name: string
  namespace: string
  image: string
  pod: V1Pod | undefined
  ended?: string | undefined
}

/** A workspace as the layers above see it. */
export function infoOf(record: KubernetesRecord, { name, namespace, image, pod, ended }: Seen): EnvironmentInfo {
  const { id, owner, created, env, profile } = record
  const state: EnvironmentState = pod !== undefined && lifeOf(pod) === 'running' ? 'running' : 'suspended'
  const [uid, node] = [pod?.metadata?.uid, pod?.spec?.nodeName]
  return {
    ...{ id, backend: 'kubernetes', name: record.name, owner, state, createdAt: created },
    ...{ workdir: WORKDIR, root: WORKDIR, madeByAtelier: true },
    gateway: { node: NODE, script: SCRIPT, dir: GATEWAY_FOLDER },
    ...(env === undefined ? {} : { env }),
    ...(uid === undefined ? {} : { incarnation: uid }),
    ...(ended === undefined ? {} : { ended }),
    details: {
      image,
      namespace,
      pod: name,
      volume: name,
      ...(profile === undefined ? {} : { profile }),
      ...(node === undefined ? {} : { node }),
    },
  }
}
