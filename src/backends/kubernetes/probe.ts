import { toWorkspaceError } from '../../lib/errors.ts'
import type { ProbeStep } from '../backend.ts'
import type { KubernetesContext } from './context.ts'
import { selector } from './record.ts'
import { DEFAULT_IMAGE } from './settings.ts'

/** What `kubernetes` needs, each with what was found: a kubeconfig, a cluster that answers, the rights in the namespace. */
export async function probeKubernetes(connect: () => Promise<KubernetesContext>): Promise<ProbeStep[]> {
  const steps: ProbeStep[] = []
  const step = async (name: string, look: () => Promise<string>): Promise<boolean> => {
    try {
      steps.push({ name, ok: true, detail: await look() })
      return true
    } catch (error) {
      const { message, hint } = toWorkspaceError(error)
      steps.push({ name, ok: false, detail: message, ...(hint === undefined ? {} : { hint }) })
      return false
    }
  }
  let context: KubernetesContext | undefined
  const configured = await step('kubeconfig', async () => {
    context = await connect()
    const { source, context: name, server, namespace } = context.cluster.place
    return `${source}, context ${name}, ${server}, namespace ${namespace}`
  })
  if (!configured || context === undefined) return steps
  const { cluster, settings } = context
  const { namespace } = cluster
  const limit = { namespace, labelSelector: selector(), limit: 1 }
  const pods = await step('pods', async () => {
    await cluster.call('Listing Pods', (api, options) => api.listNamespacedPod(limit, options), { retryMs: 0 })
    return `Pods of namespace ${namespace} can be listed`
  })
  if (!pods) return steps
  await step('volumes', async () => {
    await cluster.call('Listing volume claims', (api, options) => api.listNamespacedPersistentVolumeClaim(limit, options), {
      retryMs: 0,
    })
    return `volume claims can be listed, class ${settings.storageClass ?? 'of the cluster'}`
  })
  steps.push({ name: 'image', ok: true, detail: `${settings.image ?? DEFAULT_IMAGE}, looked for at the first use` })
  return steps
}
