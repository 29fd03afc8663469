import type { RunResult } from '../gateway/protocol.ts'
import type { TerminalView } from '../workspace/ports.ts'
import { compose, present } from './compose.ts'
import { excerptText } from './excerpt-text.ts'
import { screenAnswer } from './screen-text.ts'
import type { ToolAnswer } from './tool.ts'
import { formatDuration } from './units.ts'

/** The answer to a command: its output, how it ended and how long it took, then only what is worth saying. A non-zero exit is a result, not an error. */
export function commandAnswer(
  result: RunResult & { terminal?: TerminalView },
  context: { workdir: string; background: boolean },
): ToolAnswer {
  if (result.terminal !== undefined) return screenAnswer(result.terminal, result.notices)
  const output = excerptText(result.output)
  const moved = result.cwd !== context.workdir && result.status !== 'not_run'
  const body = output === '' ? silence(result, context.background) : output
  const text = compose(body, [
    statusLine(result, context.background),
    leftoverLine(result),
    ...result.notices,
    moved ? `cwd: ${result.cwd}` : undefined,
  ])
  const { status, exitCode, signal, durationMs, cwd, job } = result
  return {
    text,
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
      return 'the command was not run'
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

function howToFollow(id: string): string {
  return `BashOutput {"id": ${JSON.stringify(id)}} reads on, KillBash ends it`
}
