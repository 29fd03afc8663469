import type { KubernetesSettings } from '../backends/kubernetes/settings.ts'
import type { ReadDefaults } from './defaults.ts'
import { openSingle, type SingleOptions } from './open-single.ts'
import { WorkspaceHandle } from './workspace-handle.ts'

/** `kubernetes`: what the configuration calls so; it goes over the configuration, key by key. */
export interface K8sWorkspaceOptions extends Omit<SingleOptions, 'directory' | 'layout'> {
  kubernetes?: KubernetesSettings
}

/** A Pod with a volume on a Kubernetes cluster. */
export class K8sWorkspace extends WorkspaceHandle {
  constructor({ kubernetes, ...common }: K8sWorkspaceOptions, read: ReadDefaults) {
    const settings = kubernetes === undefined ? {} : { kubernetes }
    super(() => openSingle(common, read, { backend: 'kubernetes', className: 'K8sWorkspace', settings }))
  }
}
