/**
 * The contract between a host and a gateway: every method with its parameters and result.
 * `wire.ts` says how these travel; `docs/gateway-protocol.md` describes both for readers.
 */
import type { ErrorCode } from '../lib/errors.ts'
import type {
  JobInfo,
  JobInputParams,
  JobInputResult,
  JobReadParams,
  JobReadResult,
  RunParams,
  RunResult,
} from './protocol-commands.ts'
import type {
  AppendParams,
  AppendResult,
  CopyParams,
  CopyResult,
  EditParams,
  EditResult,
  GlobParams,
  GlobResult,
  GrepParams,
  GrepResult,
  ListResult,
  MoveParams,
  PathParams,
  PutParams,
  ReadParams,
  ReadResult,
  StatResult,
  TreeParams,
  TreeResult,
  WriteParams,
  WriteResult,
} from './protocol-files.ts'
import type {
  NestedExitedNews,
  NestedInfo,
  NestedMessage,
  NestedMessageNews,
  NestedStartParams,
  NestedStartResult,
} from './protocol-nested.ts'
import type { WatchChangedNews, WatchParams, WatchPolledNews, WatchResult } from './protocol-watch.ts'

export type * from './protocol-commands.ts'
export type * from './protocol-files.ts'
export type * from './protocol-nested.ts'
export type * from './protocol-watch.ts'

export const PROTOCOL_VERSION = 1
/** The oldest protocol version that this side still understands. */
export const OLDEST_PROTOCOL_VERSION = 1

/** First request of each link: who dials, and the environment that its commands start with. */
export interface OpenParams {
  /** Stable name of the owner; a later link with the same owner inherits the jobs of one that was lost. */
  owner: string
  /** Initial environment of commands; the daemon's own is never used. */
  env: Record<string, string>
  /** How long the owner may be away without a goodbye before its jobs end, in ms. */
  graceMs: number
  /** The daemon ends when it had no link, job or nested call for this long, in ms; absent: its default. */
  idleMs?: number
}
export interface OpenResult {
  instance: string
  version: string
  pid: number
  platform: string
  workdir: string
  root: string
  shell: { path: string; kind: 'bash' | 'sh' } | null
  ripgrep: string | null
  /** Jobs of the same owner that were found running. */
  jobs: JobInfo[]
}

/** Method → parameters and result. A gateway answers exactly these. */
export interface Methods {
  open: { params: OpenParams; result: OpenResult }
  ping: { params: Record<string, never>; result: { now: number } }
  info: { params: Record<string, never>; result: GatewayStatus }
  /** Ends jobs, empties shell state and read-state; the daemon goes on. */
  reset: { params: Record<string, never>; result: { jobsEnded: number } }
  /** Forgets one session's shell state, read-state and read positions. */
  'session.forget': { params: { session: string }; result: Record<string, never> }
  'command.run': { params: RunParams; result: RunResult }
  'job.list': { params: Record<string, never>; result: { jobs: JobInfo[] } }
  'job.read': { params: JobReadParams; result: JobReadResult }
  'job.input': { params: JobInputParams; result: JobInputResult }
  /** Without `signal` the job is ended with all that it started: SIGTERM, then SIGKILL. */
  'job.kill': { params: { id: string; signal?: string }; result: JobReadResult['job'] }
  'file.read': { params: ReadParams; result: ReadResult }
  'file.write': { params: WriteParams; result: WriteResult }
  'file.edit': { params: EditParams; result: EditResult }
  'file.stat': { params: PathParams; result: StatResult }
  'file.list': { params: PathParams & { limit: number }; result: ListResult }
  /** A byte range; at most 1 MiB a call. `data` is base64. */
  'file.bytes': { params: PathParams & { offset: number; length: number }; result: { path: string; size: number; data: string } }
  /** The whole file as the call's stream. */
  'file.get': { params: PathParams; result: { path: string; size: number; sha256: string; mode: number } }
  /** The call's input stream becomes the file, atomically. */
  'file.put': { params: PutParams; result: { path: string; size: number; sha256: string } }
  /** Adds to the end of a file in one write; what is there is neither read nor changed. */
  'file.append': { params: AppendParams; result: AppendResult }
  'file.remove': { params: PathParams & { recursive?: boolean }; result: { removed: boolean } }
  'file.mkdir': { params: PathParams; result: { path: string } }
  /** One rename, within a file system; never over a directory. */
  'file.move': { params: MoveParams; result: { path: string } }
  /** A directory with all that is in it, to a path where nothing is. */
  'file.copy': { params: CopyParams; result: CopyResult }
  /** All that is below a directory. */
  'file.tree': { params: TreeParams; result: TreeResult }
  'search.glob': { params: GlobParams; result: GlobResult }
  'search.grep': { params: GrepParams; result: GrepResult }
  /** Starts a nested server, or takes over the one of the same scope, name and hash; aborting ends a start that nobody else waits for. */
  'nested.start': { params: NestedStartParams; result: NestedStartResult }
  /** Gives a nested server a message; its answers come as `nested.message`. */
  'nested.send': { params: { server: string; message: NestedMessage }; result: Record<string, never> }
  'nested.stop': { params: { server: string; reason?: string }; result: { stopped: boolean } }
  'nested.list': { params: Record<string, never>; result: { servers: NestedInfo[] } }
  /** Tells by `watch.changed` when what is at a path changes, until `watch.stop` or the end of the link. */
  'watch.start': { params: WatchParams; result: WatchResult }
  'watch.stop': { params: { watch: string }; result: Record<string, never> }
}
export type Method = keyof Methods
export type Params<M extends Method> = Methods[M]['params']
export type Result<M extends Method> = Methods[M]['result']

export interface GatewayStatus {
  instance: string
  pid: number
  version: string
  startedAt: string
  links: number
  /** Jobs that run. */
  jobs: number
  /** Foreground commands that run. */
  running: number
  /** Nested servers that run. */
  nested: number
  rssBytes: number
}

/** Gateway → host news that belongs to no call. */
export interface Notifications {
  'job.changed': { job: JobInfo }
  'nested.message': NestedMessageNews
  'nested.exited': NestedExitedNews
  'watch.changed': WatchChangedNews
  'watch.polled': WatchPolledNews
}
export type Notification = keyof Notifications

/** `data` of a JSON-RPC error on the link; `WorkspaceError` is made of it again on the host. */
export interface ErrorData {
  code: ErrorCode
  hint?: string
}
