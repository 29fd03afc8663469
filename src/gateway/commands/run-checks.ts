import { WorkspaceError } from '../../lib/errors.ts'
import type { Excerpt, RunParams, RunResult } from '../protocol-commands.ts'
import type { Sessions } from './sessions.ts'
import type { FoundShell } from './shell-finder.ts'

/** Refuses what can't be run at all. */
export function checkRun(params: RunParams, shell: FoundShell | null): void {
  if (shell === null) {
    throw new WorkspaceError('unavailable', 'No shell was found in this environment (bash, sh, dash, ash).', {
      hint: 'Use an image with a POSIX shell.',
    })
  }
  if (params.command.includes('\0'))
    throw new WorkspaceError('invalid_argument', 'The command contains a NUL character, which no shell can take.', {
      hint: "Let the command make it, e.g. printf '\\0'.",
    })
  const strings = [params.cwd ?? '', ...Object.entries(params.env ?? {}).flat()]
  if (strings.some(text => text.includes('\0')))
    throw new WorkspaceError('invalid_argument', 'cwd or env contains a NUL character.')
}

/** The answer when the start directory is gone: nothing was run, and the session moved home. */
export function notRun(params: RunParams, fault: string, sessions: Sessions): RunResult {
  const path = params.cwd ?? sessions.cwd(params.session)
  if (params.cwd === undefined) sessions.moveHome(params.session)
  const cwd = sessions.cwd(params.session)
  const next = params.cwd === undefined ? ` The next command starts in ${cwd}.` : ''
  const output: Excerpt = { head: '', tail: '', omittedBytes: 0, totalBytes: 0, totalLines: 0 }
  return {
    status: 'not_run',
    durationMs: 0,
    output,
    cwd,
    notices: [`The directory ${path} ${fault}: the command was not run.${next}`],
  }
}

/** Why a shell could not be started, as an error for the caller. */
export function startError(error: unknown, shell: FoundShell): WorkspaceError {
  if (error instanceof WorkspaceError) return error
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown'
  const options = { cause: error }
  if (code === 'E2BIG') {
    const hint = 'Unset large exported variables, or keep them in files.'
    return new WorkspaceError('too_large', 'The command was not run: its environment is larger than the system allows.', {
      ...options,
      hint,
    })
  }
  if (code === 'EAGAIN' || code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM') {
    return new WorkspaceError(
      'limit_exceeded',
      `The command was not run: no more processes or files can be opened here (${code}).`,
      options,
    )
  }
  return new WorkspaceError('unavailable', `The shell ${shell.path} could not be started: ${code}.`, options)
}

/** A sentence where a command that ran out of time seems to have asked something. */
export function waitingNotice(output: Excerpt, params: RunParams): string | undefined {
  const last = (output.tail || output.head).split('\n').at(-1) ?? ''
  if ((params.input ?? 'none') !== 'none' || !/[?:>\])]\s*$/.test(last) || last.trim() === '') return undefined
  return `It may have been waiting for input after ${JSON.stringify(last.slice(-80))}: standard input is empty unless asked for. Use options that ask nothing, or input: pipe.`
}

/** A sentence where a command was stopped, but not all that it had started could be. */
export function unendedNotice(pids: readonly number[]): string {
  return `${pids.length} of its processes could not be ended (pid ${pids.slice(0, 5).join(', ')}): they wait in the kernel, or are another user's.`
}
