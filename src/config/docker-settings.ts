import type { DockerSettings } from '../backends/docker/settings.ts'
import type { Config } from '../config.ts'
import { given } from '../manager/targets.ts'

type Chosen = Pick<Config, 'dockerHost' | 'dockerContext' | 'dockerEnv' | 'image' | 'profile' | 'profiles'>

/** What the configuration says of the backend `docker`. */
export function dockerSettings({ dockerHost, dockerContext, dockerEnv, image, profile, profiles }: Chosen): DockerSettings {
  return { env: dockerEnv, profiles, ...given({ host: dockerHost, context: dockerContext, image, profile }) }
}
