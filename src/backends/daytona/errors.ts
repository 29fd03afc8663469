import { type ErrorCode, WorkspaceError } from '../../lib/errors.ts'

/** What the SDK's errors have in common with an answer of our own requests that was no success. */
export interface ServiceError extends Error {
  statusCode?: number
  headers?: Readonly<Record<string, unknown>>
}

/** An answer to a request that the SDK does not make for us. */
export class AnswerError extends Error implements ServiceError {
  override readonly name = 'AnswerError'
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>

  constructor(message: string, statusCode: number, headers: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.statusCode = statusCode
    this.headers = headers
  }
}

interface Meaning {
  code: ErrorCode
  hint?: string
}

const KEY_HINT = 'Check DAYTONA_API_KEY, and that DAYTONA_API_URL is the address that it is for.'
const AGAIN: Meaning = { code: 'unavailable' }

/** The SDK's classes, the most special first come first; an error is what the nearest class above it is. */
const BY_CLASS: Readonly<Record<string, Meaning>> = {
  DaytonaConnectionTimeoutError: { code: 'timeout', hint: 'Try again, or allow more time with daytona.requestTimeoutMs.' },
  DaytonaConnectionError: { code: 'unavailable', hint: 'Check the network and DAYTONA_API_URL, then try again.' },
  DaytonaInvalidArgumentError: { code: 'invalid_argument' },
  DaytonaAuthenticationError: { code: 'unauthenticated', hint: KEY_HINT },
  DaytonaForbiddenError: { code: 'permission_denied', hint: 'Give the key the right to read, write and delete sandboxes.' },
  DaytonaNotFoundError: { code: 'not_found' },
  DaytonaTimeoutError: { code: 'timeout', hint: 'Try again, or allow more time with daytona.startTimeoutMs.' },
  DaytonaConflictError: AGAIN,
  DaytonaGoneError: { code: 'environment_lost' },
  DaytonaUnprocessableEntityError: { code: 'invalid_argument' },
  DaytonaRateLimitError: { code: 'limit_exceeded', hint: 'Wait, then try again; see the rate limits of the organization.' },
  DaytonaInternalServerError: AGAIN,
  DaytonaBadGatewayError: AGAIN,
  DaytonaServiceUnavailableError: AGAIN,
  DaytonaBadRequestError: { code: 'invalid_argument' },
  DaytonaError: AGAIN,
}

const BY_STATUS: Readonly<Record<number, keyof typeof BY_CLASS>> = {
  400: 'DaytonaBadRequestError',
  401: 'DaytonaAuthenticationError',
  403: 'DaytonaForbiddenError',
  404: 'DaytonaNotFoundError',
  408: 'DaytonaTimeoutError',
  409: 'DaytonaConflictError',
  410: 'DaytonaGoneError',
  422: 'DaytonaUnprocessableEntityError',
  429: 'DaytonaRateLimitError',
  504: 'DaytonaTimeoutError',
}

const QUOTA = /quota|limit exceeded|exceeds? .*limit|maximum allowed|suspended|insufficient (credit|balance)/i
const QUOTA_HINT = 'Delete sandboxes that are not needed (workspace_delete), or raise the limits of the organization.'
const MAX_WORDS = 500

/** The status of an answer that was no success, also behind our own error; `undefined` for any other error. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof WorkspaceError) return statusOf(error.cause)
  return (error as Partial<ServiceError> | undefined)?.statusCode
}

/** Whether nobody knows what became of a request: no answer came, or one from a machine in between. */
export function isOpen(error: unknown): boolean {
  const status = statusOf(error)
  if (status !== undefined) return status >= 500 || status === 408
  const cause = error instanceof WorkspaceError ? error.cause : error
  return isA(cause, 'DaytonaConnectionError') || isA(cause, 'DaytonaTimeoutError') || isUnreached(cause) || isBare(cause)
}

/** Seconds that the service asks to wait, as ms; `undefined` where it does not say. */
export function retryAfterMs(error: unknown): number | undefined {
  const value = (error as Partial<ServiceError>).headers?.['retry-after']
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const seconds = Number(value)
  const ms = Number.isNaN(seconds) ? Date.parse(String(value)) - Date.now() : seconds * 1_000
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** An error of the SDK or the service as ours; `what` begins the sentence, `secrets` never stand in it. */
export function daytonaError(error: unknown, what: string, secrets: readonly string[] = []): WorkspaceError {
  if (error instanceof WorkspaceError) return error
  // The reason of a signal that aborted.
  if (error instanceof DOMException) return new WorkspaceError('cancelled', `${what}: cancelled.`, { cause: error })
  const words = wordsOf(error, secrets)
  if (/no space left on device|disk quota exceeded/i.test(words)) {
    return new WorkspaceError('no_space', `${what}: ${words}.`, { hint: 'Free space in the sandbox, or give it a larger disk.' })
  }
  const status = statusOf(error)
  const asked = status === 400 || status === 403 || status === 402 || status === 422
  if (asked && QUOTA.test(words)) {
    return new WorkspaceError('limit_exceeded', `${what}: ${words}.`, { hint: QUOTA_HINT, cause: error })
  }
  const { code, hint } = meaningOf(error, status)
  return new WorkspaceError(code, `${what}: ${words}.`, { hint, cause: error })
}

function meaningOf(error: unknown, status: number | undefined): Meaning {
  const named = Object.entries(BY_CLASS).find(([name]) => isA(error, name))?.[1]
  const byStatus = status === undefined ? undefined : BY_CLASS[BY_STATUS[status] ?? 'DaytonaError']
  if (named !== undefined && named !== BY_CLASS.DaytonaError) return named
  const unreached = isUnreached(error) ? BY_CLASS.DaytonaConnectionError : undefined
  return byStatus ?? unreached ?? named ?? { code: 'internal' }
}

/** What the runtime's own client throws when a host does not answer. */
function isUnreached(error: unknown): boolean {
  return error instanceof TypeError && error.cause !== undefined
}

/** What the SDK throws for a sandbox that failed to start. */
function isBare(error: unknown): boolean {
  return (error as Error | undefined)?.name === 'DaytonaError'
}

/** Whether a class of this name is among those that the error was made of; two copies of the SDK make no difference. */
function isA(error: unknown, name: string): boolean {
  for (let at = Object(error); at !== null; at = Object.getPrototypeOf(at)) {
    if (at.constructor?.name === name) return true
  }
  return false
}

function wordsOf(error: unknown, secrets: readonly string[]): string {
  const { message, cause } = error as Error
  const said = cause instanceof Error && message === 'fetch failed' ? cause.message || String(cause) : String(message ?? error)
  const plain = said.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
  const safe = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), plain)
  return safe.trim().replace(/\.+$/, '').slice(0, MAX_WORDS) || 'no reason was given'
}
