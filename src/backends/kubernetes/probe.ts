import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, ProbeStep } from '../backend.ts'
import { Probe } from '../probe.ts'
import type { Cluster } from './cluster.ts'
import type { KubernetesContext } from './context.ts'
import { selector } from './record.ts'
import { missingRights } from './rights.ts'
import { DEFAULT_IMAGE } from './settings.ts'

const ADDRESS_HINT =
  'See whether the cluster runs and is reachable from here: kubectl get --raw /readyz. Or name another context.'

/** What `kubernetes` needs, each with what was found: a kubeconfig, a cluster that answers, the rights in the namespace. */
export async function probeKubernetes(
  connect: () => Promise<KubernetesContext>,
  { signal }: CallOptions = {},
): Promise<ProbeStep[]> {
  const probe = new Probe()
  const context = await probe.connect('configured', connect, {
    found: ({ cluster: { place } }) => `${place.source}, context ${place.context}, namespace ${place.namespace}`,
    signal,
  })
  if (context === undefined) return probe.steps
  const { cluster, settings } = context
  const limit = { namespace: cluster.namespace, labelSelector: selector(), limit: 1 }
  const list = (end: AbortSignal) =>
    cluster.call('Listing Pods', (api, options) => api.listNamespacedPod(limit, options), { retryMs: 0, signal: end })
  if (!(await probe.reach(cluster.place.server, list, { hint: ADDRESS_HINT, signal }))) return probe.steps
  if (!(await probe.step('rights', end => rights(cluster, end), { signal }))) return probe.steps
  const volumes = `volumes of ${settings.storageClass === undefined ? "the cluster's default class" : `class ${settings.storageClass}`}`
  const detail = `${settings.image ?? DEFAULT_IMAGE}, known to the nodes alone, with ${volumes}`
  probe.steps.push({ name: 'image', ok: true, detail })
  return probe.steps
}

async function rights(cluster: Cluster, signal: AbortSignal): Promise<string> {
  const missing = await missingRights(cluster, { signal })
  if (missing === undefined) return `the cluster does not tell them; namespace ${cluster.namespace}`
  if (missing.length === 0) return `all that it takes in namespace ${cluster.namespace}`
  throw new WorkspaceError(
    'permission_denied',
    `The user of the kubeconfig may not do in namespace ${cluster.namespace}: ${missing.join(', ')}.`,
    { hint: 'Give it the rights of deploy/rbac.yaml in that namespace, or name another context or namespace.' },
  )
}
