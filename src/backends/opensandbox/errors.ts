import { type ErrorCode, WorkspaceError } from '../../lib/errors.ts'

/** What the SDK, `fetch` and the websocket throw. */
interface AnyError {
  name?: string
  message?: string
  statusCode?: number
  error?: { code?: string; message?: string }
  rawBody?: { code?: unknown; message?: unknown }
  code?: string
  cause?: { code?: string; message?: string }
}

interface Meaning {
  code: ErrorCode
  hint?: string
}

const KEY_HINT = 'Check OPEN_SANDBOX_API_KEY or opensandbox.apiKey, and that the key is of this server.'
const NET_HINT = 'See whether the server runs and is reachable from here: opensandbox.domain, opensandbox.protocol.'
const RATE_HINT = 'Wait, or pause and delete sandboxes that are not needed.'
const IMAGE_HINT = 'Name an image that the server has or can pull in opensandbox.image; opensandbox.imageAuth is its login.'

const BY_CLASS: Readonly<Record<string, Meaning>> = {
  SandboxReadyTimeoutException: { code: 'timeout' },
  SandboxUnhealthyException: { code: 'unavailable' },
  SandboxInternalException: { code: 'unavailable' },
  InvalidArgumentException: { code: 'invalid_argument' },
  AbortError: { code: 'cancelled' },
  TimeoutError: { code: 'timeout', hint: NET_HINT },
}

/** Codes of the server that say more than their status. */
const BY_CODE: readonly [RegExp, Meaning][] = [
  [/IMAGE_PULL|IMAGE_NOT_FOUND/, { code: 'not_found', hint: IMAGE_HINT }],
  [/SANDBOX_NOT_FOUND/, { code: 'environment_gone', hint: 'Call again: a new, empty sandbox is made.' }],
  [/FILE_NOT_FOUND/, { code: 'not_found' }],
  [/NOT_RUNNING|NOT_PAUSED/, { code: 'precondition_failed', hint: 'Try again: its state has changed meanwhile.' }],
  [
    /METADATA_LABEL/,
    { code: 'invalid_argument', hint: 'Keys and values of opensandbox.metadata follow the rules of Kubernetes labels.' },
  ],
  [/HOST_PATH/, { code: 'permission_denied', hint: "Allow the path in the server's storage.allowed_host_paths." }],
]

const BY_STATUS: Readonly<Record<number, Meaning>> = {
  400: { code: 'invalid_argument' },
  401: { code: 'unauthenticated', hint: KEY_HINT },
  403: { code: 'permission_denied', hint: KEY_HINT },
  404: { code: 'not_found' },
  409: { code: 'precondition_failed', hint: 'Try again: its state has changed meanwhile.' },
  422: { code: 'invalid_argument' },
  429: { code: 'limit_exceeded', hint: RATE_HINT },
  507: { code: 'no_space' },
}

/** Any error of the SDK, of a request or of a stream as ours; `what` begins the sentence: `Sandbox x`. */
export function openSandboxError(
  error: unknown,
  what: string,
  options: { signal?: AbortSignal | undefined } = {},
): WorkspaceError {
  if (error instanceof WorkspaceError) return error
  if (options.signal?.aborted) return new WorkspaceError('cancelled', `${what}: cancelled.`, { cause: error })
  const words = wordsOf(error as AnyError)
  const { code, hint } = meaningOf(error as AnyError, words)
  return new WorkspaceError(code, `${what}: ${words}`, { hint, cause: error })
}

function meaningOf({ name = '', statusCode = 0, error, rawBody, code, cause }: AnyError, words: string): Meaning {
  if (/no space left on device|disk quota exceeded/i.test(words)) {
    return { code: 'no_space', hint: "Free space on the disk of the server's engine, or inside the sandbox." }
  }
  const codes = `${error?.code ?? ''} ${typeof rawBody?.code === 'string' ? rawBody.code : ''}`
  const known = BY_CODE.find(([pattern]) => pattern.test(codes))?.[1] ?? BY_STATUS[statusCode] ?? BY_CLASS[name]
  if (known !== undefined) return known
  const network = /fetch failed|terminated|socket|network|other side closed|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT/i
  if (statusCode >= 500 || network.test(`${words} ${code ?? ''} ${cause?.code ?? ''}`))
    return { code: 'unavailable', hint: NET_HINT }
  return { code: 'internal' }
}

/** The words of the server or the client, with the reason that `fetch` hides, in one line. */
function wordsOf({ message = '', error, rawBody, cause }: AnyError): string {
  const said = typeof rawBody?.message === 'string' ? rawBody.message : (error?.message ?? message)
  const reason = cause?.code ?? cause?.message
  const words = reason === undefined || said.includes(reason) ? said : `${said} (${reason})`
  return words.replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, 500)
}

/** Whether the same request may go well a moment later; only for what can be asked twice. */
export function isPassing({ code }: WorkspaceError): boolean {
  return code === 'unavailable' || code === 'limit_exceeded'
}
