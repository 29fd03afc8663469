import { type ErrorCode, WorkspaceError } from '../../lib/errors.ts'

/** An error of the SDK; classes are told by name, since a program may hold the SDK twice. */
interface SdkError {
  name?: string
  message?: string
  statusCode?: number
  cause?: { code?: string; message?: string }
}

const KEY_HINT = 'Check E2B_API_KEY or e2b.apiKey, and that the key is of this domain: https://e2b.dev/dashboard?tab=keys.'
const RATE_HINT = 'Wait, or pause and delete sandboxes that are not needed; the limits are those of the E2B plan.'
const NET_HINT = 'See whether the service is reachable from here (e2b.domain, e2b.apiUrl, e2b.proxy), and https://status.e2b.dev.'

interface Meaning {
  code: ErrorCode
  hint?: string
}

const BY_CLASS: Readonly<Record<string, Meaning>> = {
  SandboxNotFoundError: { code: 'environment_gone', hint: 'Call again: a new, empty sandbox is made.' },
  FileNotFoundError: { code: 'not_found' },
  NotFoundError: { code: 'not_found' },
  AuthenticationError: { code: 'unauthenticated', hint: KEY_HINT },
  RateLimitError: { code: 'limit_exceeded', hint: RATE_HINT },
  ServiceBusyError: { code: 'unavailable' },
  NotEnoughSpaceError: { code: 'no_space', hint: 'Free space inside the sandbox, or use a template with a larger disk.' },
  InvalidArgumentError: { code: 'invalid_argument' },
  TemplateError: { code: 'unsupported', hint: 'Build the template again with the current e2b command.' },
  TimeoutError: { code: 'timeout' },
  AbortError: { code: 'cancelled' },
}

const BY_STATUS: Readonly<Record<number, Meaning>> = {
  400: { code: 'invalid_argument' },
  401: { code: 'unauthenticated', hint: KEY_HINT },
  403: { code: 'permission_denied', hint: KEY_HINT },
  404: { code: 'not_found' },
  409: { code: 'already_exists' },
  429: { code: 'limit_exceeded', hint: RATE_HINT },
  507: { code: 'no_space' },
}

/** Any error of the SDK as ours; `what` begins the sentence: `Sandbox x`. An abort by `signal` is `cancelled` whatever the SDK calls it. */
export function e2bError(error: unknown, what: string, options: { signal?: AbortSignal | undefined } = {}): WorkspaceError {
  if (error instanceof WorkspaceError) return error
  const sdk = error as SdkError
  const words = wordsOf(sdk)
  if (options.signal?.aborted) return new WorkspaceError('cancelled', `${what}: cancelled.`, { cause: error })
  const { code, hint } = meaningOf(sdk, words)
  return new WorkspaceError(code, `${what}: ${words}`, { hint, cause: error })
}

function meaningOf({ name = '', statusCode = 0 }: SdkError, words: string): Meaning {
  if (/template .*not found/i.test(words)) {
    return { code: 'not_found', hint: 'Name a template of this account in e2b.template: e2b template list.' }
  }
  const known = BY_STATUS[statusCode] ?? BY_CLASS[name]
  if (known !== undefined) return known
  if (statusCode >= 500 || isNetwork(words)) return { code: 'unavailable', hint: NET_HINT }
  return { code: 'internal' }
}

function isNetwork(words: string): boolean {
  return /fetch failed|terminated|ECONN|ENOTFOUND|EAI_AGAIN|socket|network|other side closed|bad gateway|\bHTTP 5\d\d/i.test(
    words,
  )
}

/** The SDK's words, with the reason that `fetch` hides, in one line and without what the SDK advises its programmers. */
function wordsOf({ message = '', cause }: SdkError): string {
  const reason = cause?.code ?? cause?.message
  const words = `${message}${reason === undefined || message.includes(reason) ? '' : ` (${reason})`}`
  return words
    .replace(/: This error is likely due to exceeding [\s\S]*$/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 500)
}

/** Whether the same request may go well a moment later; only for what can be asked twice. */
export function isPassing({ code }: WorkspaceError): boolean {
  return code === 'unavailable' || code === 'limit_exceeded'
}
