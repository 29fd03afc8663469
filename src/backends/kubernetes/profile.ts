import { WorkspaceError } from '../../lib/errors.ts'
import type { KubernetesProfile, KubernetesSettings } from './settings.ts'

/** The settings with a profile's over them. Throws `invalid_argument` for one that there is not. */
export function profileOf({ profiles = {}, profile, ...settings }: KubernetesSettings, name = profile): KubernetesProfile {
  if (name === undefined) return settings
  if (Object.hasOwn(profiles, name)) return { ...settings, ...profiles[name] }
  const names = Object.keys(profiles)
  throw new WorkspaceError('invalid_argument', `The backend kubernetes has no profile ${JSON.stringify(name)}.`, {
    hint: names.length === 0 ? 'It has none: leave it out.' : `There are: ${names.join(', ')}.`,
  })
}
