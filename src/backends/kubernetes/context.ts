import type { Logger } from '../../lib/log.ts'
import type { Cluster } from './cluster.ts'
import { profileOf } from './profile.ts'
import type { KubernetesRecord } from './record.ts'
import { DEFAULT_IMAGE, DEFAULT_NODE_LOST_MS, type KubernetesProfile, type KubernetesSettings } from './settings.ts'

/** What every part of this backend works with. */
export interface KubernetesContext {
  cluster: Cluster
  settings: KubernetesSettings
  /** Folder of this host for a node that images without one get. */
  cacheFolder: string
  logger: Logger
}

/** Image and profile of a workspace: as it was made with, else as the settings have it now. */
export function choiceOf(
  { settings }: KubernetesContext,
  record: KubernetesRecord,
): { image: string; profile: KubernetesProfile } {
  return { image: record.image ?? settings.image ?? DEFAULT_IMAGE, profile: profileOf(settings, record.profile) }
}

/** How long a Pod that does not confirm its end is waited for. */
export function nodeLostMs({ settings }: KubernetesContext): number {
  return settings.nodeLostMs ?? DEFAULT_NODE_LOST_MS
}
