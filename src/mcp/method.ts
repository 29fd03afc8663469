export interface MethodExtra {
  /** Aborts with `notifications/cancelled` and with the session. */
  signal: AbortSignal
  /** The router's id of the request. */
  requestId: number
  /** Sends a notification on the request's stream, at once. */
  notify(method: string, params: Record<string, unknown>): void
}

/** Answers one method; what it throws becomes the error answer, by its numeric `code`, `message` and `data`. */
export type MethodHandler = (params: Record<string, unknown>, extra: MethodExtra) => Promise<Record<string, unknown>>

/** Answers from what is known, without the SDK's server. */
export type QuickMethod = (params: Record<string, unknown>) => Promise<Record<string, unknown>>

/** An error with a JSON-RPC code, for the client as it stands. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}
