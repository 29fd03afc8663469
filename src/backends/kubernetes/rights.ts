import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import type { Cluster } from './cluster.ts'

/** What the backend can't do without: the rules of `deploy/rbac.yaml`. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  pods: ['create', 'get', 'list', 'delete'],
  'pods/exec': ['create', 'get'],
  persistentvolumeclaims: ['create', 'get', 'list', 'patch', 'delete'],
}

/** The needed rights that the user of the kubeconfig has not in the namespace, for people; `undefined` where the cluster does not tell. */
export async function missingRights(cluster: Cluster, options: CallOptions = {}): Promise<string[] | undefined> {
  const wanted = Object.entries(NEEDED).flatMap(([resource, verbs]) => verbs.map(verb => ({ resource, verb })))
  try {
    const allowed = await Promise.all(wanted.map(right => cluster.may(right, options)))
    return wanted.filter((_, index) => !allowed[index]).map(({ verb, resource }) => `${verb} ${resource}`)
  } catch (error) {
    // Everybody may ask that by default, but an administrator can forbid it.
    if (toWorkspaceError(error).code === 'permission_denied') return undefined
    throw error
  }
}
