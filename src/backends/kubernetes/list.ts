import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node'
import type { CallOptions, Owner } from '../backend.ts'
import type { Cluster } from './cluster.ts'
import { selector } from './record.ts'

const PAGE = 200

interface Page<T> {
  items: T[]
  metadata?: { _continue?: string }
}

/** All Pods of workspaces, or those of an owner. */
export function listPods(cluster: Cluster, owner?: Partial<Owner>, call: CallOptions = {}): AsyncIterable<V1Pod> {
  const { namespace } = cluster
  return pages(_continue =>
    cluster.call(
      'Listing Pods',
      (api, options) => api.listNamespacedPod({ namespace, labelSelector: selector(owner), limit: PAGE, ..._continue }, options),
      call,
    ),
  )
}

/** All volume claims of workspaces, or those of an owner. */
export function listClaims(
  cluster: Cluster,
  owner?: Partial<Owner>,
  call: CallOptions = {},
): AsyncIterable<V1PersistentVolumeClaim> {
  const { namespace } = cluster
  return pages(_continue =>
    cluster.call(
      'Listing volume claims',
      (api, options) =>
        api.listNamespacedPersistentVolumeClaim(
          { namespace, labelSelector: selector(owner), limit: PAGE, ..._continue },
          options,
        ),
      call,
    ),
  )
}

async function* pages<T>(get: (from: { _continue?: string }) => Promise<Page<T>>): AsyncIterable<T> {
  for (let from: { _continue?: string } = {}; ; ) {
    const { items, metadata } = await get(from)
    yield* items
    if (!metadata?._continue) return
    from = { _continue: metadata._continue }
  }
}
