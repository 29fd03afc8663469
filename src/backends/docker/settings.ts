import type { DockerProfile } from './profile.ts'

/** The operator's choices for this backend; everything that a client of the engine would else read from its environment. */
export interface DockerSettings {
  /** Address of the engine: `unix://`, `npipe://`, `tcp://`, `ssh://` or a bare `host:port`; absent: see `env`. */
  host?: string
  /** Name of a context of the docker command; absent: see `env`. */
  context?: string
  /** The variables of the docker command, with `HOME` and `XDG_RUNTIME_DIR`. */
  env?: DockerVariables
  /** Image of new containers; default: `DEFAULT_IMAGE`. */
  image?: string
  /** Profile of new containers; default: `default`. */
  profile?: string
  /** Profiles by name, beside those that are built in. */
  profiles?: Readonly<Record<string, DockerProfile>>
}

export const DOCKER_VARIABLES = [
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_TLS_VERIFY',
  'DOCKER_CERT_PATH',
  'DOCKER_CONFIG',
  'HOME',
  'XDG_RUNTIME_DIR',
] as const

export type DockerVariables = Partial<Record<(typeof DOCKER_VARIABLES)[number], string>>

/** The image that the project's Dockerfile makes. */
export const DEFAULT_IMAGE = 'atelier-workspace:latest'
