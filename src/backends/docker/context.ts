import type { Logger } from '../../lib/log.ts'
import { digest } from '../host/layout.ts'
import type { HostUser } from './container-options.ts'
import type { Engine } from './engine.ts'
import type { Profiles } from './profile.ts'

/** What every part of this backend works with, once the engine has answered. */
export interface DockerContext {
  engine: Engine
  /** Real path of the data directory. */
  dataDir: string
  /** The data directory as labels have it: empty on an engine elsewhere, which any host may share. */
  scope: string
  image: string
  profiles: Profiles
  hostUser: HostUser
  logger: Logger
}

/** Name of a workspace's container. Two data directories on one engine have containers of their own. */
export function containerName({ scope }: Pick<DockerContext, 'scope'>, id: string): string {
  return scope === '' ? `atelier-${id}` : `atelier-${id}-${digest([scope]).slice(0, 8)}`
}
