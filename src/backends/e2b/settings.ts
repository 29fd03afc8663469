/** The operator's choices for this backend; what is left out is as the SDK has it. */
export interface E2bSettings {
  apiKey?: string
  /** Domain of the service; default: `e2b.app`. */
  domain?: string
  /** Address of a self-hosted API, in place of the one that follows from the domain. */
  apiUrl?: string
  /** Address of the program inside sandboxes, where it can't be told from the domain. */
  sandboxUrl?: string
  /** URL of an HTTP proxy for all requests. */
  proxy?: string
  /** Template of new sandboxes, by name or id. */
  template?: string
  /** A sandbox that no host keeps alive is paused after so long. Ms; default: `DEFAULT_TIMEOUT_MS`. */
  timeoutMs?: number
  /** Limit for one request to the service, ms; default: a minute. */
  requestTimeoutMs?: number
  /** Variables of new sandboxes, for all that runs in them. */
  env?: Record<string, string>
  /** Metadata of new sandboxes beside ours. */
  metadata?: Record<string, string>
  /** Whether new sandboxes reach the internet; default: yes. */
  allowInternetAccess?: boolean
  /** What new sandboxes may reach and who may reach them: the SDK's `SandboxNetworkOpts`, as plain data. */
  network?: Record<string, unknown>
  /** Volumes of the account by the path that new sandboxes see them at. */
  volumeMounts?: Record<string, string>
  /** Where commands start; made when it is missing. Default: `DEFAULT_WORKDIR`. */
  workdir?: string
  /** User inside, who must be there; default: the template's. */
  user?: string
}

export const DEFAULT_TIMEOUT_MS = 15 * 60_000
export const DEFAULT_TEMPLATE = 'base'
export const DEFAULT_WORKDIR = '/home/user/workspace'
