import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { sleep } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import type { Cluster, RequestCall } from './cluster.ts'
import { MANAGED, notOurs, STARTED, useOf } from './record.ts'

const POLL_MS = 200

/** The claim; `undefined` when there is none of that name, or when it is on its way out. */
export async function readClaim(
  cluster: Cluster,
  name: string,
  call: RequestCall = {},
): Promise<V1PersistentVolumeClaim | undefined> {
  const found = await readAny(cluster, name, call)
  return found?.metadata?.deletionTimestamp === undefined ? found : undefined
}

async function readAny(cluster: Cluster, name: string, call: RequestCall): Promise<V1PersistentVolumeClaim | undefined> {
  const { namespace } = cluster
  return orNone(
    cluster.call(
      `Volume claim ${name}`,
      (api, options) => api.readNamespacedPersistentVolumeClaim({ name, namespace }, options),
      call,
    ),
  )
}

interface TouchOptions extends CallOptions {
  /** Who uses it from now on. */
  user: string
  /** How long one that is being deleted is waited for. */
  limitMs: number
}

/** Marks the claim as used by `user`, and makes it when there is none; waits while an old one of that name is being deleted. */
export async function touchClaim(
  cluster: Cluster,
  body: V1PersistentVolumeClaim,
  { user, limitMs, signal }: TouchOptions,
): Promise<V1PersistentVolumeClaim> {
  const name = body.metadata?.name ?? ''
  for (const end = Date.now() + limitMs; ; ) {
    const found = (await mark(cluster, name, { user, signal })) ?? (await create(cluster, body, { signal }))
    if (found !== undefined && found.metadata?.deletionTimestamp === undefined) return found
    if (Date.now() > end) {
      throw new WorkspaceError('environment_gone', `Volume claim ${name} is being deleted, and its Pod still holds it.`, {
        hint: `Its files go with that Pod. To begin anew: kubectl delete pod ${name}, then call again.`,
      })
    }
    await sleep(POLL_MS, { signal })
  }
}

/** Notes that a gateway runs on the claim for `user`. */
export async function markStarted(cluster: Cluster, name: string, user: string, call: CallOptions = {}): Promise<void> {
  await mark(cluster, name, { user, started: 'yes', ...call })
}

async function mark(
  cluster: Cluster,
  name: string,
  { user, started, signal }: { user: string; started?: 'yes' } & CallOptions,
): Promise<V1PersistentVolumeClaim | undefined> {
  const { namespace } = cluster
  const body = [
    { op: 'test', path: '/metadata/labels/app.kubernetes.io~1managed-by', value: MANAGED['app.kubernetes.io/managed-by'] },
    ...Object.entries(useOf(user)).map(([key, value]) => ({ op: 'add', path: `/metadata/annotations/${key}`, value })),
    ...(started === undefined ? [] : [{ op: 'add', path: `/metadata/annotations/${STARTED}`, value: started }]),
  ]
  try {
    return await orNone(
      cluster.call(
        `Volume claim ${name}`,
        (api, options) => api.patchNamespacedPersistentVolumeClaim({ name, namespace, body }, options),
        { signal },
      ),
    )
  } catch (error) {
    if ((error as WorkspaceError).code === 'invalid_argument') throw notOurs(`volume claim ${name}`)
    throw error
  }
}

async function create(
  cluster: Cluster,
  body: V1PersistentVolumeClaim,
  call: CallOptions,
): Promise<V1PersistentVolumeClaim | undefined> {
  const { namespace } = cluster
  const what = `Volume claim ${body.metadata?.name}`
  try {
    return await cluster.call(
      what,
      (api, options) => api.createNamespacedPersistentVolumeClaim({ namespace, body }, options),
      call,
    )
  } catch (error) {
    // Somebody else was faster.
    if ((error as WorkspaceError).code === 'already_exists') return undefined
    throw error
  }
}

/**
 * Deletes the claim, and its files with it; `only` leaves it alone, and gives `false`, unless it is still as it was then. Its Pod must
 * be gone first.
 */
export async function deleteClaim(
  cluster: Cluster,
  name: string,
  { only, signal }: CallOptions & { only?: V1PersistentVolumeClaim } = {},
): Promise<boolean> {
  const { namespace } = cluster
  const { uid, resourceVersion } = only?.metadata ?? {}
  const body = uid === undefined || resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }
  try {
    await cluster.call(
      `Volume claim ${name}`,
      (api, options) => api.deleteNamespacedPersistentVolumeClaim({ name, namespace, body }, options),
      { signal },
    )
    return true
  } catch (error) {
    const { code } = error as WorkspaceError
    if (code === 'not_found') return true
    if (only !== undefined && code === 'already_exists') return false
    throw error
  }
}

/** Waits until a deleted claim is gone, as far as `limitMs` allows. */
export async function waitClaimGone(
  cluster: Cluster,
  name: string,
  { limitMs, signal }: CallOptions & { limitMs: number },
): Promise<void> {
  for (const end = Date.now() + limitMs; Date.now() < end; await sleep(POLL_MS, { signal })) {
    if ((await readAny(cluster, name, { signal })) === undefined) return
  }
}

async function orNone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if ((error as WorkspaceError).code === 'not_found') return undefined
    throw error
  }
}
