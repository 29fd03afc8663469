import { formatMs } from '../../lib/deadline.ts'
import { type ErrorCode, WorkspaceError } from '../../lib/errors.ts'

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  409: 'already_exists',
  413: 'too_large',
  422: 'invalid_argument',
  429: 'limit_exceeded',
}

const RIGHTS =
  'Give the user of the kubeconfig the rights of deploy/rbac.yaml in that namespace, or name another context or namespace.'
const HINTS: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'Renew the credentials in the kubeconfig, or name another context.',
  permission_denied: RIGHTS,
  invalid_argument: 'Correct the settings of the backend kubernetes.',
}

/** What the client throws: an answer that is no success, a request that got none, or a websocket that did not open. */
interface Thrown {
  code?: number | string
  body?: unknown
  headers?: Record<string, string>
  name?: string
  message?: string
}

/** The status of an answer that was no success; `undefined` for any other error. */
export function statusOf(error: unknown): number | undefined {
  const { code, message } = (error ?? {}) as Thrown
  if (typeof code === 'number') return code
  const refused = /^Unexpected server response: (\d+)/.exec(message ?? '')
  return refused === null ? undefined : Number(refused[1])
}

/** The API server's own words, without the client's wrapping. */
export function serverWords(error: unknown): string {
  const { body, message } = error as Thrown
  const told = /^Message: (.+)$/m.exec(message ?? '')?.[1]
  return (messageOf(body) ?? told ?? message ?? String(error)).trim().slice(0, 1_000).replace(/\.$/, '')
}

function messageOf(body: unknown): string | undefined {
  if (typeof body === 'object' && body !== null) return (body as { message?: string }).message
  if (typeof body !== 'string' || body === '') return undefined
  try {
    return (JSON.parse(body) as { message?: string }).message
  } catch {
    // An answer of a proxy in between.
    return body
  }
}

/** After how many ms the server wants to be asked again; `undefined` where it did not say. */
export function retryAfterMs(error: unknown): number | undefined {
  const seconds = Number((error as Thrown).headers?.['retry-after'])
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined
}

/** Whether the same request may succeed in a moment. */
export function isPassing(error: unknown): boolean {
  if (error instanceof WorkspaceError) return false
  const status = statusOf(error)
  if (status !== undefined) return status === 429 || status >= 500 || isYoungNamespace(status, error)
  return ABSENT.has(String((error as Thrown).code))
}

/** A namespace that was just made has no service account for a moment. */
function isYoungNamespace(status: number, error: unknown): boolean {
  return status === 403 && /error looking up service account .*"default" not found/.test(serverWords(error))
}

const ABSENT = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENETUNREACH', 'EHOSTUNREACH', 'EAI_AGAIN'])

/** An error of the cluster or its client as ours; `what` begins the sentence: `Pod x`. */
export function clusterError(error: unknown, what: string, address?: string): WorkspaceError {
  if (error instanceof WorkspaceError) return error
  const status = statusOf(error)
  const words = serverWords(error)
  if (status === 403) return refused(error, what, words)
  if (status === 404 && /namespaces? "?[^ ]+"? not found/.test(words)) {
    return new WorkspaceError('not_found', `${what}: ${words}.`, {
      hint: 'Make the namespace (kubectl create namespace), or name another one.',
      cause: error,
    })
  }
  if (status !== undefined) {
    const code = BY_STATUS[status] ?? 'unavailable'
    const asked = retryAfterMs(error)
    const wait = asked === undefined ? undefined : `The API server asks to wait ${formatMs(asked)}: try again then.`
    return new WorkspaceError(code, `${what}: ${words}.`, { hint: wait ?? HINTS[code], cause: error })
  }
  return unreachable(error as Thrown, `${what}${address === undefined ? '' : ` (cluster ${address})`}`)
}

function refused(error: unknown, what: string, words: string): WorkspaceError {
  const make = (code: ErrorCode, hint: string) => new WorkspaceError(code, `${what}: ${words}.`, { hint, cause: error })
  if (/exceeded quota/.test(words)) {
    return make(
      'limit_exceeded',
      'Close or delete workspaces, ask for less in `resources` or `storageSize`, or raise the ResourceQuota.',
    )
  }
  if (/violates PodSecurity/.test(words)) {
    return make(
      'permission_denied',
      'Leave out of `podSecurityContext`, `securityContext` and `podPatch` what it names, or use another namespace.',
    )
  }
  if (/(maximum|minimum) \S+ usage per|limit to request ratio|must specify (limits|requests)/.test(words)) {
    return make(
      'limit_exceeded',
      'Set `resources` and `storageSize` to what the LimitRange or ResourceQuota of the namespace allows.',
    )
  }
  if (/is being terminated/.test(words)) return make('unavailable', 'The namespace is being deleted: name another one.')
  return make('permission_denied', RIGHTS)
}

function unreachable(error: Thrown, what: string): WorkspaceError {
  const { code, name, message = String(error) } = error
  if (name === 'AbortError' || code === 'ABORT_ERR')
    return new WorkspaceError('cancelled', `${what}: cancelled.`, { cause: error })
  if (/certificate|self.signed|CERT_|ERR_TLS/.test(`${code} ${message}`)) {
    return new WorkspaceError('unavailable', `${what}: its certificate is not accepted: ${message}.`, {
      hint: 'The kubeconfig needs the certificate authority of this very cluster.',
      cause: error,
    })
  }
  if (
    /spawnSync|exec.*(ENOENT|failed)|No currentUser|\b(refresh|access|bearer|id)[ -]token\b|token (file|is expired|has expired)/i.test(
      message,
    )
  ) {
    return new WorkspaceError('unauthenticated', `${what}: no credentials: ${message}.`, {
      hint: HINTS.unauthenticated,
      cause: error,
    })
  }
  if (ABSENT.has(String(code)) || code === 'ENOTFOUND' || /socket hang up|network|WebSocket/i.test(message)) {
    return new WorkspaceError('unavailable', `${what} does not answer: ${message}.`, {
      hint: 'See whether the cluster runs and is reachable from here: kubectl get --raw /readyz. Or name another context.',
      cause: error,
    })
  }
  return new WorkspaceError('internal', `${what}: ${message}`, { cause: error })
}
