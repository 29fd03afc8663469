import type { CoreV1Event, V1ObjectMeta, V1Pod } from '@kubernetes/client-node'
import type { CallOptions } from '../backend.ts'
import type { Cluster } from './cluster.ts'

/** What the cluster reports of a Pod or claim, oldest first; nothing where the rights don't suffice. */
export async function eventsOf(
  cluster: Cluster,
  metadata: V1ObjectMeta | undefined,
  call: CallOptions = {},
): Promise<CoreV1Event[]> {
  const { namespace } = cluster
  const fieldSelector = `involvedObject.uid=${metadata?.uid}`
  try {
    const { items } = await cluster.call(
      `Events of ${metadata?.name}`,
      (api, options) => api.listNamespacedEvent({ namespace, fieldSelector, limit: 100 }, options),
      { ...call, retryMs: 0 },
    )
    return items.sort((a, b) => timeOf(a) - timeOf(b))
  } catch {
    // They only explain another failure, which is reported without them.
    return []
  }
}

function timeOf({ lastTimestamp, eventTime, metadata }: CoreV1Event): number {
  return new Date(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? 0).getTime()
}

/** Warnings of every Pod of such a cluster: no reason of anything. */
const IDLE: ReadonlySet<string | undefined> = new Set(['MissingClusterDNS', 'DNSConfigForming'])

/** The last warning that may be a reason, as it stands in `kubectl describe`. */
export function lastWarning(events: readonly CoreV1Event[]): string | undefined {
  const event = events.findLast(({ type, reason }) => type === 'Warning' && !IDLE.has(reason))
  return event === undefined ? undefined : `${event.reason}: ${event.message?.trim().replace(/\.$/, '')}`
}

/** Why a Pod came to its end, where an event says more than its status, which may lag behind. */
export async function whyByEvents(cluster: Cluster, { metadata, status }: V1Pod): Promise<string | undefined> {
  if (status?.reason !== undefined || status?.conditions?.some(({ type }) => type === 'DisruptionTarget')) return undefined
  const event = (await eventsOf(cluster, metadata)).findLast(({ reason }) => reason !== undefined && reason in ENDED)
  return event === undefined ? undefined : `${ENDED[event.reason ?? '']}: ${event.message?.trim().replace(/\.$/, '')}`
}

const ENDED: Readonly<Record<string, string>> = {
  Evicted: 'it was evicted',
  Preempted: 'it was preempted by a Pod of a higher priority',
  TaintManagerEviction: 'its node was tainted',
}
