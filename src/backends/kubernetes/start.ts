import type { V1Pod } from '@kubernetes/client-node'
import { sleep } from '../../lib/deadline.ts'
import type { ProvisionOptions } from '../backend.ts'
import type { Cluster } from './cluster.ts'
import { isNodeLost, lifeOf } from './pod-state.ts'
import { deletePod, nodeLost, readPod } from './pods.ts'
import { endedEarly, isHopeless, isOverlooked, obstacleOf, startFailure } from './start-failure.ts'

const FIRST_POLL_MS = 100
const LONGEST_POLL_MS = 1_000
/** From here on looks become rarer: what takes longer than this is not a matter of tenths. */
const QUICK_MS = 5_000
/** Time between two closer looks at a Pod that does not start. */
const CLOSER_MS = 5_000

/**
 * Waits until a Pod runs. `undefined`: it is gone, or about to be. Throws what keeps it from running, with the cluster's own words,
 * at once where it is final, else after `limitMs`.
 */
export async function waitRunning(
  cluster: Cluster,
  first: V1Pod,
  { limitMs, signal, onProgress }: { limitMs: number } & ProvisionOptions,
): Promise<V1Pod | undefined> {
  const { name = '', uid } = first.metadata ?? {}
  const patience = new Patience(limitMs)
  for (let pod = first, pollMs = FIRST_POLL_MS; ; ) {
    const life = lifeOf(pod)
    if (life === 'terminating') return undefined
    if (life === 'ended') throw endedEarly(pod)
    if (life === 'running') {
      if (isNodeLost(pod)) throw nodeLost(pod, 'does not answer')
      return pod
    }
    const obstacle = obstacleOf(pod)
    const closer = patience.takeCloserLook()
    if (patience.isOver(obstacle) || (closer && (await isHopeless(cluster, pod)))) {
      throw await startFailure(cluster, pod, { obstacle, waitedMs: patience.waitedMs })
    }
    // It is made again by who asked.
    if (closer) onProgress?.(`Pod ${name} does not run yet: ${obstacle?.reason ?? waitingReason(pod)}.`)
    if (closer && (await isOverlooked(cluster, pod))) await deletePod(cluster, pod)
    if (patience.waitedMs > QUICK_MS) pollMs = Math.min(pollMs * 1.5, LONGEST_POLL_MS)
    await sleep(pollMs, { signal })
    const next = await readPod(cluster, name, { signal })
    if (next === undefined || next.metadata?.uid !== uid) return undefined
    pod = next
  }
}

const waitingReason = (pod: V1Pod): string =>
  pod.status?.containerStatuses?.[0]?.state?.waiting?.reason ?? pod.status?.phase ?? 'Pending'

/** How long something has been in the way, and when to look closer. */
class Patience {
  readonly #limitMs: number
  readonly #begun = Date.now()
  #looked = Date.now()
  #met: { code: string | undefined; since: number } = { code: undefined, since: Date.now() }

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  get waitedMs(): number {
    return Date.now() - this.#begun
  }

  isOver(obstacle: { code: string; patienceMs?: number } | undefined): boolean {
    if (this.#met.code !== obstacle?.code) this.#met = { code: obstacle?.code, since: Date.now() }
    if (this.waitedMs >= this.#limitMs) return true
    return obstacle?.patienceMs !== undefined && Date.now() - this.#met.since >= obstacle.patienceMs
  }

  takeCloserLook(): boolean {
    if (Date.now() - this.#looked < CLOSER_MS) return false
    this.#looked = Date.now()
    return true
  }
}
