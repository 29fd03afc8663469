import type { RunResult } from '../gateway/protocol.ts'
import type { TerminalView } from '../workspace/ports.ts'
import { compose, present } from './compose.ts'
import { excerptText } from './excerpt-text.ts'
import { screenAnswer } from './screen-text.ts'
import type { LogReference, ToolAnswer } from './tool.ts'
import { formatDuration } from './units.ts'

/** The answer to a command: its output, how it ended and how long it took, then only what is worth saying. A non-zero exit is a result, not an error. */
export function commandAnswer(
  result: RunResult & { terminal?: TerminalView },
  context: { workdir: string; background: boolean; input?: 'none' | 'pipe' | 'pty' },
): ToolAnswer {
  if (result.terminal !== undefined) return screenAnswer(result.terminal, { notices: result.notices, started: true })
  const output = excerptText(result.output)
  const moved = result.cwd !== context.workdir && result.status !== 'not_run'
  const body = output === '' ? silence(result, context.background) : output
  const text = compose(body, [
    statusLine(result, context.background),
    context.input === 'pipe' && result.job !== undefined ? `${bashInputOn(result.job)} writes to its stdin` : undefined,
    leftoverLine(result),
    ...result.notices,
    moved ? `cwd: ${result.cwd}` : undefined,
  ])
  const { status, exitCode, signal, durationMs, cwd, job } = result
  return {
    text,
    log: logOf(result),
    isError: status === 'timed_out' || status === 'not_run' || status === 'cancelled',
    structured: present({
      status,
      exitCode,
      signal,
      durationMs,
      cwd,
      job: job ?? result.leftover?.job,
      log: result.output.log,
      output: text,
    }),
  }
}

/** That of a job that goes on, or of output that is not shown whole. */
function logOf({ job, leftover, output }: RunResult): LogReference | undefined {
  const id = job ?? leftover?.job
  if (id !== undefined) return { job: id }
  const { log, omittedBytes, totalBytes, logTruncatedAt } = output
  return log === undefined || omittedBytes === 0 ? undefined : { path: log, bytes: logTruncatedAt ?? totalBytes }
}

function silence(result: RunResult, background: boolean): string {
  if (result.status === 'not_run' || (result.status === 'running' && background)) return ''
  return result.status === 'running' ? '(no output yet)' : '(no output)'
}

function statusLine(result: RunResult, background: boolean): string | undefined {
  const took = formatDuration(result.durationMs)
  switch (result.status) {
    case 'exited':
      return `exit code ${result.exitCode}, after ${took}`
    case 'signaled':
      return `ended by ${result.signal ?? 'a signal'}, after ${took}`
    case 'timed_out':
      return `timed out after ${took}; the command and everything it started were ended. Allow more with timeout, or use run_in_background`
    case 'cancelled':
      return `cancelled after ${took}; the command and everything it started were ended`
    case 'running':
      return runningLine(
        result,
        background ? 'running in the background' : `still running after ${took}, goes on in the background`,
      )
    case 'not_run':
      // A notice says why, and that.
      return result.notices.length === 0 ? 'the command was not run' : undefined
    case 'unknown':
      return 'nobody saw how the command ended: its exit code is unknown'
  }
}

function runningLine(result: RunResult, state: string): string {
  const log = result.output.log === undefined ? '' : `; log: ${result.output.log}`
  return `${state} as job ${result.job}: ${howToFollow(result.job ?? '')}${log}`
}

function leftoverLine({ leftover }: RunResult): string | undefined {
  if (leftover === undefined) return undefined
  const pids = leftover.pids.length === 0 ? '' : ` (pid ${leftover.pids.join(', ')})`
  return `processes that the command started still run${pids}, as job ${leftover.job}: ${howToFollow(leftover.job)}`
}

function bashInputOn(id: string): string {
  return `BashInput {"id": ${JSON.stringify(id)}, "text": …}`
}

function howToFollow(id: string): string {
  return `BashOutput {"id": ${JSON.stringify(id)}} reads on, KillBash ends it`
}
