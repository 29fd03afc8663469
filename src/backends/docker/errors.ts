import { type ErrorCode, WorkspaceError } from '../../lib/errors.ts'
import { tlsError } from './tls-errors.ts'

/** An answer of the engine with another status than success. */
interface EngineAnswer {
  statusCode?: number
  json?: { message?: string }
  reason?: string
  code?: string
  message: string
}

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  409: 'already_exists',
  500: 'unavailable',
  503: 'unavailable',
}

/** The status of an answer that was no success; `undefined` for any other error. */
export function statusOf(error: unknown): number | undefined {
  return (error as EngineAnswer | undefined)?.statusCode
}

/** Whether the connection was cut in the midst: nobody knows what became of the request. */
export function wasCut(error: unknown): boolean {
  const { code, message } = error as EngineAnswer
  return statusOf(error) === undefined && (code === 'ECONNRESET' || code === 'EPIPE' || /socket hang up/.test(message))
}

/** The engine's own words, without the client's wrapping. */
export function engineWords(error: unknown): string {
  const { json, message } = error as EngineAnswer
  const words = json?.message ?? message ?? String(error)
  return words
    .replace(/^\(HTTP code \d+\) [^-]+ - /, '')
    .trim()
    .slice(0, 1_000)
}

/** What a server of TLS answers to plain text. */
const isOfAnotherProtocol = (words: string): boolean => words.includes('HTTP request to an HTTPS server')

/** Where an engine is, for the next step of an error. */
interface EngineAddress {
  address?: string
  tlsFolder?: string
}

/** An error of the engine or its client as ours; `what` begins the sentence: `Container x`. */
export function engineError(error: unknown, what: string, at: EngineAddress = {}): WorkspaceError {
  if (error instanceof WorkspaceError) return error
  const { code, name } = error as EngineAnswer & { name?: string }
  if (name === 'AbortError' || code === 'ABORT_ERR')
    return new WorkspaceError('cancelled', `${what}: cancelled.`, { cause: error })
  const words = engineWords(error)
  if (/no space left on device|disk quota exceeded/i.test(words)) {
    return new WorkspaceError('no_space', `${what}: ${words}.`, {
      hint: "Free space on the engine's disk: docker system df.",
      cause: error,
    })
  }
  const status = statusOf(error)
  const tls = status === undefined || isOfAnotherProtocol(words) ? tlsError(error as EngineAnswer, what, at) : undefined
  if (tls !== undefined) return tls
  if (status !== undefined) return new WorkspaceError(BY_STATUS[status] ?? 'internal', `${what}: ${words}.`, { cause: error })
  return unreachable(error as EngineAnswer, what, at)
}

const ABSENT = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EHOSTUNREACH', 'ETIMEDOUT', 'ECONNRESET', 'EPIPE'])

function unreachable(error: EngineAnswer, what: string, { address }: EngineAddress): WorkspaceError {
  const { code, message } = error
  if (code === 'EACCES' || code === 'EPERM') {
    return new WorkspaceError('permission_denied', `${what} can't be used by this user: ${message}.`, {
      hint: 'Add the user to the group docker, or use a rootless engine.',
      cause: error,
    })
  }
  if ((code !== undefined && ABSENT.has(code)) || /socket hang up/.test(message)) {
    const start = address === undefined || address.startsWith('unix:') ? 'Start it (dockerd, Docker Desktop, colima), or n' : 'N'
    return new WorkspaceError('unavailable', `${what} does not answer: ${message}.`, {
      hint: `${start}ame another one with --docker-host, DOCKER_HOST or a docker context.`,
      cause: error,
    })
  }
  return new WorkspaceError('internal', `${what}: ${message}`, { cause: error })
}
