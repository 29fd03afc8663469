/** Nested MCP servers: parameters and results of `nested.*`, and the news about them. */

/** A JSON-RPC message as it travels; nothing in it is validated beyond this shape. */
export type NestedMessage = NestedRequest | NestedNotification | NestedAnswer
export type NestedId = string | number
export interface NestedRequest {
  jsonrpc: '2.0'
  id: NestedId
  method: string
  params?: Record<string, unknown>
}
export interface NestedNotification {
  jsonrpc: '2.0'
  method: string
  params?: Record<string, unknown>
}
export interface NestedAnswer {
  jsonrpc: '2.0'
  id: NestedId | null
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

/** Whose a nested server is: nobody else uses the same instance. */
export interface NestedScope {
  agent: string
  session: string
}

/** What to start or dial. */
export type NestedDeclaration = NestedCommand | NestedUrl
export interface NestedCommand {
  type: 'stdio'
  command: string
  args: string[]
  /** Beside the environment of the link's commands. */
  env: Record<string, string>
  /** Absent: the workdir; a relative one starts there. */
  cwd?: string
}
export interface NestedUrl {
  type: 'http' | 'sse'
  url: string
  headers: Record<string, string>
  /** Try the other of the two when the server knows nothing of this one. */
  fallback?: boolean
}

export interface NestedStartParams {
  scope: NestedScope
  name: string
  /** Of the declaration: another one is another instance. */
  hash: string
  declaration: NestedDeclaration
  /** Fill in `${VAR}` in the declaration's texts, from the environment of the link's commands and these. Absent: none is left. */
  variables?: Record<string, string>
  /** Parameters of `initialize`, which the gateway sends once for an instance. */
  initialize: Record<string, unknown>
  /** From the start to the answer of `initialize`, in ms. */
  budgetMs: number
  /** Servers that may run at once: idle ones of other scopes end for this one. Absent: any number. */
  maxLive?: number
}
export interface NestedStartResult {
  /** Id of the instance; empty when it could not be started. */
  server: string
  /** What the server answered to `initialize`, the first time. */
  result?: Record<string, unknown>
  /** Whether this call started it; else it ran already and is taken over. */
  fresh?: boolean
  pid?: number
  failure?: NestedFailure
}
export interface NestedFailure {
  /** What happened, in words. */
  reason: string
  stderrTail: string
  exitCode?: number
  signal?: string
}

export interface NestedInfo {
  server: string
  scope: NestedScope
  name: string
  hash: string
  state: 'starting' | 'ready'
  pid?: number
  stderrTail: string
  /** Requests of all links that the server has not answered. */
  inFlight: number
  /** Since the last message of a host, in ms. */
  idleMs: number
  /** Links that use it. */
  links: number
}

/** `data` of an error that the gateway answers in the place of a server. */
export interface NestedErrorData {
  /** The server ended before it can have seen the request, which may be sent again. */
  unseen: true
}

export interface NestedMessageNews {
  server: string
  message: NestedMessage
  /** Id of this link's request that the message belongs to, where that is certain. */
  related?: NestedId
}
export interface NestedExitedNews {
  server: string
  exitCode?: number
  signal?: string
  stderrTail: string
  reason: string
  /** The gateway ended it; it did not fail. */
  stopped?: true
}
