/** The closed list of error codes. Every failure that a caller may want to tell apart has one. */
export const ERROR_CODES = [
  'invalid_argument',
  'not_found',
  'already_exists',
  'precondition_failed',
  'permission_denied',
  'unauthenticated',
  'unsupported',
  'too_large',
  'no_space',
  'limit_exceeded',
  'timeout',
  'cancelled',
  'unavailable',
  'environment_lost',
  'environment_gone',
  'node_lost',
  'out_of_memory',
  'protocol',
  'internal',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** JSON-RPC error code of each error; the domain codes lie in the range that the standard leaves to servers. */
export const JSON_RPC_CODE: Record<ErrorCode, number> = {
  invalid_argument: -32602,
  not_found: -32002,
  already_exists: -32010,
  precondition_failed: -32011,
  permission_denied: -32012,
  unauthenticated: -32013,
  unsupported: -32014,
  too_large: -32015,
  no_space: -32016,
  limit_exceeded: -32017,
  timeout: -32001,
  cancelled: -32800,
  unavailable: -32018,
  environment_lost: -32019,
  environment_gone: -32020,
  node_lost: -32022,
  out_of_memory: -32021,
  protocol: -32600,
  internal: -32603,
}

/** HTTP status of each error. */
export const HTTP_STATUS: Record<ErrorCode, number> = {
  invalid_argument: 400,
  not_found: 404,
  already_exists: 409,
  precondition_failed: 412,
  permission_denied: 403,
  unauthenticated: 401,
  unsupported: 501,
  too_large: 413,
  no_space: 507,
  limit_exceeded: 429,
  timeout: 504,
  cancelled: 499,
  unavailable: 503,
  environment_lost: 502,
  environment_gone: 410,
  node_lost: 502,
  out_of_memory: 507,
  protocol: 400,
  internal: 500,
}

/** The next step that is shown where the thrower gave none. */
export const DEFAULT_HINT: Record<ErrorCode, string | undefined> = {
  invalid_argument: 'Correct the argument and call again.',
  not_found: 'Check the name or path.',
  already_exists: 'Choose another name, or use what is there.',
  precondition_failed: 'Read it again, then repeat the change.',
  permission_denied: 'Ask the operator for access.',
  unauthenticated: 'Send a valid bearer token.',
  unsupported: undefined,
  too_large: 'Ask for a smaller part.',
  no_space: 'Free some disk space, then try again.',
  limit_exceeded: 'Wait, or end something that is running.',
  timeout: 'Allow more time, or run it in the background.',
  cancelled: undefined,
  unavailable: 'Try again shortly.',
  environment_lost: 'Call again: the environment is restarted by the next call.',
  environment_gone: 'Create the workspace again.',
  node_lost: 'Wait until the node is back, or ask the operator.',
  out_of_memory: 'Use less memory, or ask the operator for a larger limit.',
  protocol: undefined,
  internal: 'This is a fault of Atelier: see its log.',
}

/** The one error that crosses Atelier's layers: what failed, on what, why (`message`), and the next step (`hint`). */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError'
  readonly code: ErrorCode
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint ?? DEFAULT_HINT[code]
  }

  /** The message with its next step, as shown to a model or a person. */
  get text(): string {
    return this.hint === undefined ? this.message : `${this.message}\n${this.hint}`
  }
}

/** Any thrown value as a `WorkspaceError`; unknown ones become `internal`, with the original as cause. */
export function toWorkspaceError(error: unknown): WorkspaceError {
  if (error instanceof WorkspaceError) return error
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && error.name === 'AbortError') return new WorkspaceError('cancelled', message, { cause: error })
  return new WorkspaceError('internal', message, { cause: error })
}
