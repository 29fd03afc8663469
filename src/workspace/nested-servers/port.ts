/** How the layers above use the nested servers of a workspace. */
import type { NestedMessage, NestedScope } from '../../gateway/protocol.ts'
import type { PortOptions } from '../ports.ts'

export type { NestedMessage, NestedScope }

/** How the tools of a server are shown: with a prefix, by their own names, or not at all (`mcp_call` alone reaches them). */
export type Expose = 'prefixed' | 'bare' | 'hidden'
export type NestedState = 'starting' | 'ready' | 'failed' | 'stopped'

/** A nested server as it is declared, `${VAR}` as written. Either `command` or `url` is there. */
export interface ServerDeclaration {
  name: string
  command?: string
  args?: string[]
  env?: Record<string, string>
  /** Absent: the workdir. */
  cwd?: string
  url?: string
  headers?: Record<string, string>
  /** Absent: by the path of the URL, with the other one as fallback. */
  type?: 'http' | 'sse'
  /** Names of tools; absent: all. */
  enableTools?: string[]
  disableTools?: string[]
  expose?: Expose
  /** From the start to the answer of `initialize`, in ms. */
  startTimeoutMs?: number
  /** Of one request, counted anew with each progress, in ms. */
  callTimeoutMs?: number
}

/** What a model or a person may know of a server. */
export interface NestedStatus {
  name: string
  /** As declared; values that may be secret are left out. */
  declaration: ServerDeclaration
  expose: Expose
  state: NestedState
  reason?: string
  stderrTail?: string
  instructions?: string
  serverInfo?: Record<string, unknown>
  capabilities?: Record<string, unknown>
  /** How many tools it has; absent where it was never asked. */
  tools?: number
  inFlight: number
  pid?: number
  source: 'config' | 'added'
  warnings: string[]
}

/** The lists of a server as it last gave them whole, each item verbatim; absent: never asked, or it has no such list. */
export interface KeptLists {
  tools?: Record<string, unknown>[]
  prompts?: Record<string, unknown>[]
  resources?: Record<string, unknown>[]
  resourceTemplates?: Record<string, unknown>[]
}

/** A server as the surface shows it; a snapshot. */
export interface NestedServerView {
  name: string
  expose: Expose
  state: NestedState
  reason?: string
  /** Tools that the declaration turns off are left out. */
  lists: KeptLists
  /** Its answer to `initialize`, this time or the last. */
  initialize?: Record<string, unknown>
  enableTools?: readonly string[]
  disableTools?: readonly string[]
  callTimeoutMs: number
}

export interface NestedEvents {
  /** A message of a server; `related`: this attachment's request that it belongs to, where that is certain. */
  message(server: string, message: NestedMessage, related?: string | number): void
  /** The set of servers, the state of one, or a kept list changed. */
  changed(): void
}

/** One conversation with the servers of a scope: its request ids and progress tokens are its own. */
export interface NestedAttachment {
  /** In order of declaration; waits for nothing. Empty until the declarations were read: `changed` tells. */
  servers(): readonly NestedServerView[]
  /** Resolves when the declarations were read. */
  ready(): Promise<void>
  /** Reads the declarations again; gives the servers that are new or changed since the last look, and not started. */
  refresh(): Promise<readonly string[]>
  /** Starts a server that is not running; throws why it can't, or `not_found`. */
  ensure(server: string, signal?: AbortSignal): Promise<void>
  /** Gives a server a message, starting it first where needed; a failure comes as a JSON-RPC error through `message`. */
  send(server: string, message: NestedMessage): void
  /** Cancels what is in flight. */
  close(): void
}

/** The nested servers of one workspace. */
export interface NestedServers {
  /** Waits for no server. */
  list(scope: NestedScope): Promise<NestedStatus[]>
  /** Connects first: a failed connect records nothing. Throws `already_exists`, `invalid_argument`, or why it failed. */
  add(scope: NestedScope, declaration: ServerDeclaration, options?: PortOptions): Promise<NestedStatus>
  /** Whether there was such a server. */
  remove(scope: NestedScope, name: string): Promise<boolean>
  attach(scope: NestedScope, events: NestedEvents): NestedAttachment
  /** Ends a session's servers and forgets its declarations: it inherits the defaults again. */
  purgeSession(scope: NestedScope): Promise<void>
  /** The same for every session of an agent. */
  purgeAgent(agent: string): Promise<void>
  /** Requests in flight. */
  readonly inFlight: number
  /** Lets go; the servers go on where the gateway does. */
  dispose(): void
}
