/** The narrow ports through which tools work. `Workspace` holds one of each; a test may hand in its own. */
import type {
  EditParams,
  EditResult,
  GlobParams,
  GlobResult,
  GrepParams,
  GrepResult,
  JobInfo,
  JobReadParams,
  JobReadResult,
  ListResult,
  ReadParams,
  ReadResult,
  RunParams,
  RunResult,
  StatResult,
  TerminalSize,
  WriteParams,
  WriteResult,
} from '../gateway/protocol.ts'
import type { Screen } from './terminal/screen.ts'

export interface PortOptions {
  signal?: AbortSignal | undefined
}

export interface RunOptions extends PortOptions {
  /** Output while it runs, as text; whole code points. */
  onOutput?: ((text: string) => void) | undefined
}

export type Without<T, K extends keyof T> = Omit<T, K>

/** A job's terminal as it stands. */
export interface TerminalView {
  job: JobInfo
  screen: Screen
}

/** What is sent to a job, in this order; `keys` are names with blanks between them. */
export interface JobInput {
  id: string
  /** Whose read position moves behind what the answer shows. */
  session?: string
  data?: string
  keys?: string
  eof?: boolean
  /** A new size of its terminal. */
  terminal?: TerminalSize
}

export interface Shell {
  /** Bounds of the shown output and the soft limit are filled in from the workspace's limits when absent. */
  run(
    params: Without<RunParams, 'headBytes' | 'tailBytes' | 'stream'> & Partial<Pick<RunParams, 'headBytes' | 'tailBytes'>>,
    options?: RunOptions,
  ): Promise<RunResult & { terminal?: TerminalView }>
  jobs(options?: PortOptions): Promise<JobInfo[]>
  /** A job with a terminal is shown by its screen, unless an offset or a filter asks for what it wrote. */
  readJob(
    params: Without<JobReadParams, 'headBytes' | 'tailBytes'>,
    options?: PortOptions,
  ): Promise<JobReadResult & { terminal?: TerminalView }>
  inputJob(params: JobInput, options?: PortOptions): Promise<{ bytes: number; terminal?: TerminalView; notices?: string[] }>
  killJob(params: { id: string; signal?: string }, options?: PortOptions): Promise<JobInfo>
}

export interface Files {
  readonly workdir: string
  /** At most `limit` lines, and never more than the workspace's limit. */
  read(
    params: Without<ReadParams, 'maxBytes' | 'maxLineBytes' | 'confine' | 'limit'> & { limit?: number },
    options?: PortOptions,
  ): Promise<ReadResult>
  write(params: Without<WriteParams, 'confine'>, options?: PortOptions): Promise<WriteResult>
  edit(params: Without<EditParams, 'confine'>, options?: PortOptions): Promise<EditResult>
  stat(path: string, options?: PortOptions): Promise<StatResult>
  list(path: string, options?: PortOptions): Promise<ListResult>
  /** A byte range of a regular file. */
  bytes(
    path: string,
    range: { offset: number; length: number },
    options?: PortOptions,
  ): Promise<{ path: string; size: number; data: Uint8Array }>
  get(
    path: string,
    sink: (chunk: Uint8Array) => void | Promise<void>,
    options?: PortOptions,
  ): Promise<{ path: string; size: number; sha256: string; mode: number }>
  put(
    path: string,
    source: AsyncIterable<Uint8Array>,
    options?: PortOptions & { mode?: number },
  ): Promise<{ path: string; size: number; sha256: string }>
  remove(path: string, options?: PortOptions & { recursive?: boolean }): Promise<boolean>
  mkdir(path: string, options?: PortOptions): Promise<void>
}

export interface Search {
  glob(
    params: Without<GlobParams, 'limit' | 'confine' | 'path'> & { path?: string; limit?: number },
    options?: PortOptions,
  ): Promise<GlobResult>
  grep(
    params: Without<GrepParams, 'maxLineBytes' | 'confine' | 'path' | 'limit' | 'offset'> & {
      path?: string
      limit?: number
      offset?: number
    },
    options?: PortOptions,
  ): Promise<GrepResult>
}
