/** Commands and jobs: parameters and results of `command.*` and `job.*`. */

export interface RunParams {
  /** Key of the shell state (working directory, exported environment) that the command starts from and updates. */
  session: string
  command: string
  /** Directory for this command alone; the session's own is neither used nor changed. */
  cwd?: string
  /** Variables for this command alone. */
  env?: Record<string, string>
  /** Limit from the start, in ms; absent: none. */
  timeoutMs?: number
  /** Nobody asked for `timeoutMs`: it ends the command, but not children that outlive a normal end. */
  timeoutIsDefault?: boolean
  /** Become a job at once and answer when started. */
  background?: boolean
  /** After this many ms the command goes on as a job and the answer says so; absent: never. */
  softLimitMs?: number
  input?: 'none' | 'pipe' | 'pty'
  /** Size of the terminal with `input: pty`; absent: 100 columns, 30 rows. */
  terminal?: TerminalSize
  /** Bounds of the shown output, in bytes of UTF-8 text. */
  headBytes: number
  tailBytes: number
  /** Send output while it runs, as stream chunks of this call (subject to credit; surplus is dropped, never waited for). */
  stream?: boolean
}

/** Columns and rows of a terminal. */
export interface TerminalSize {
  columns: number
  rows: number
}

/** Output as shown: escapes stripped, carriage returns collapsed, cut at code points. */
export interface Excerpt {
  head: string
  /** Empty when nothing was omitted. */
  tail: string
  omittedBytes: number
  /** Bytes and lines that the command wrote, before any stripping. */
  totalBytes: number
  totalLines: number
  /** Absolute path of the raw log, where one was kept. */
  log?: string
  /** The log stops here because of its cap or a full disk. */
  logTruncatedAt?: number
}

export type CommandStatus = 'exited' | 'signaled' | 'timed_out' | 'cancelled' | 'running' | 'not_run' | 'unknown'

export interface RunResult {
  status: CommandStatus
  exitCode?: number
  signal?: string
  durationMs: number
  output: Excerpt
  /** Set when a job goes on after the answer: the command itself, or children that it left behind. */
  job?: string
  /** Children left running (status is then the command's own). */
  leftover?: { job: string; pids: number[] }
  /** Working directory of the session after the command. */
  cwd: string
  /** Sentences for the reader: state not carried, directory gone, out of memory, waiting for input, … */
  notices: string[]
}

export interface JobInfo {
  id: string
  command: string
  status: CommandStatus
  exitCode?: number
  signal?: string
  pid?: number
  /** ISO 8601. */
  startedAt: string
  endedAt?: string
  log: string
  bytes: number
  input: 'none' | 'pipe' | 'pty'
  /** Sizes that a terminal had, each with the byte of the log from which it counts. */
  terminal?: (TerminalSize & { at: number })[]
  /** `command`: a command that became a job; `leftover`: children that outlived a normal command. */
  kind: 'command' | 'leftover'
}

export interface JobReadParams {
  id: string
  /** Whose read position is used and moved when `offset` is absent. */
  session: string
  /** Byte offset in the raw log. */
  offset?: number
  /** Wait up to this long for new output or the end, in ms. */
  waitMs?: number
  /** Only lines that match this regular expression. */
  filter?: string
  headBytes: number
  tailBytes: number
}
/** For a terminal a line feed in `data` is sent as the return key, and `eof` as ctrl-d. */
export interface JobInputParams {
  id: string
  data?: string
  /** What keys send, after `data`; for a terminal only. */
  keys?: string
  eof?: boolean
  /** A new size; for a terminal only. */
  terminal?: TerminalSize
  /** Whose read position moves behind what a terminal has shown by the answer. */
  session?: string
  /** Wait up to this long, in ms, until a terminal shows something new and stands still. */
  waitMs?: number
}
export interface JobInputResult {
  bytes: number
  /** The job afterwards, where it has a terminal. */
  job?: JobInfo
}

export interface JobReadResult {
  job: JobInfo
  output: Excerpt
  /** Offset after what was read. */
  nextOffset: number
  notices: string[]
}
