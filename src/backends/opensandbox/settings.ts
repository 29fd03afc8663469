import type { CredentialProxyConfig, NetworkPolicy, PlatformSpec, Volume } from '@alibaba-group/opensandbox'

/** The operator's choices for this backend; what is left out is as the SDK has it. */
export interface OpenSandboxSettings {
  apiKey?: string
  /** `host:port` of the server, or its address with a scheme and a path. Default: `localhost:8080`. */
  domain?: string
  /** Where the domain names no scheme; default: `http`. */
  protocol?: 'http' | 'https'
  /** Whether sandboxes are reached through the server; default: directly. */
  useServerProxy?: boolean
  /** Further headers of requests to the server; none of them is sent into sandboxes. */
  headers?: Record<string, string>
  /** Limit for one request, ms; default: `DEFAULT_REQUEST_MS`. */
  requestTimeoutMs?: number
  /** A new sandbox runs and answers within this, its image pulled. Ms; default: `DEFAULT_READY_MS`. */
  readyTimeoutMs?: number
  /** Image of new sandboxes; it needs bash. Default: `DEFAULT_IMAGE`. */
  image?: string
  /** Login of the image's registry. */
  imageAuth?: { username: string; password: string }
  /** Main process of new sandboxes; default: one that reaps orphans and does nothing else. */
  entrypoint?: readonly string[]
  /**
   * The server removes a sandbox, files included, when it was not kept alive for so long. Ms, at least a minute; default: never.
   */
  timeoutMs?: number
  /** A running sandbox that no host has used for so long is paused by the next host. Ms; default: `DEFAULT_TTL_MS`. */
  ttlMs?: number
  /** Variables of new sandboxes, for all that runs in them. */
  env?: Record<string, string>
  /** Metadata of new sandboxes beside ours. */
  metadata?: Record<string, string>
  /** Limits in the server's words: `{ cpu: '2', memory: '4Gi' }`. */
  resources?: Record<string, string>
  /** What new sandboxes may reach, in the SDK's words. */
  networkPolicy?: NetworkPolicy
  /** Volumes of new sandboxes, in the SDK's words. */
  volumes?: readonly Volume[]
  /** Platform of new sandboxes, in the SDK's words. */
  platform?: PlatformSpec
  /** Whether a sandbox's ports ask for headers of their own; a server on Kubernetes only. */
  secureAccess?: boolean
  credentialProxy?: CredentialProxyConfig
  /** Passed to the server as they are. */
  extensions?: Record<string, string>
  /** Token that the program inside a sandbox asks for; what runs in the sandbox can read it. */
  accessToken?: string
  /** Where commands start; made when it is missing. Default: `DEFAULT_WORKDIR`. */
  workdir?: string
}

export const DEFAULT_DOMAIN = 'localhost:8080'
export const DEFAULT_REQUEST_MS = 30_000
export const DEFAULT_READY_MS = 300_000
export const DEFAULT_TTL_MS = 24 * 3_600_000
export const DEFAULT_WORKDIR = '/workspace'
/** The image that the project's Dockerfile makes. */
export const DEFAULT_IMAGE = 'atelier-workspace:latest'
/** The SDK's own is `tail -f /dev/null`, which leaves every orphan a zombie. */
export const DEFAULT_ENTRYPOINT: readonly string[] = [
  'sh',
  '-c',
  'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done',
]
