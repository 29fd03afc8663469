/** The operator's choices for this backend; what is left out is as the service has it. */
export interface DaytonaSettings {
  apiKey?: string
  /** In place of a key; needs `organizationId`. */
  jwtToken?: string
  organizationId?: string
  /** Address of the API; default: Daytona's cloud. */
  apiUrl?: string
  /** Region of new sandboxes. */
  target?: string
  /** Snapshot of new sandboxes; goes before `image`. */
  snapshot?: string
  /** Image of new sandboxes, which the service pulls or builds at the first use. */
  image?: string
  /** Size of new sandboxes; only with an image. Memory and disk in GiB. */
  resources?: DaytonaResources
  /** User inside, by name. */
  user?: string
  /** Variables of every sandbox. */
  env?: Readonly<Record<string, string>>
  /** Labels beside our own. */
  labels?: Readonly<Record<string, string>>
  volumes?: readonly DaytonaVolume[]
  network?: DaytonaNetwork
  /** Directory that an agent works in; default: `/workspace`. */
  workdir?: string
  /** Workspaces of two namespaces know nothing of each other: for several installations in one organization. */
  namespace?: string
  /** The service stops a sandbox that nobody used for so long; 0: never. Default: 30. */
  autoStopMinutes?: number
  /** The service moves a stopped sandbox to cheaper storage after so long; 0: as late as it can. Default: the service's. */
  autoArchiveMinutes?: number
  /** How long a sandbox may take to start, an image's build included, in ms. Default: 5 min. */
  startTimeoutMs?: number
  /** How long one request may take, in ms. Default: 60 s. */
  requestTimeoutMs?: number
}

export interface DaytonaResources {
  cpu?: number
  memory?: number
  disk?: number
  gpu?: number
}

export interface DaytonaVolume {
  volumeId: string
  mountPath: string
  subpath?: string
}

export interface DaytonaNetwork {
  /** Nothing leaves the sandbox. */
  blockAll?: boolean
  /** Only these networks, in CIDR form. */
  allow?: readonly string[]
  /** Only these names. */
  domains?: readonly string[]
  /** Address of a proxy for what leaves. */
  proxyUrl?: string
}

export const DEFAULT_API_URL = 'https://app.daytona.io/api'
export const DEFAULT_WORKDIR = '/workspace'
export const DEFAULT_AUTO_STOP_MINUTES = 30
export const DEFAULT_START_TIMEOUT_MS = 300_000
export const DEFAULT_REQUEST_TIMEOUT_MS = 60_000
