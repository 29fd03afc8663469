import { z } from 'zod'
import { WorkspaceError } from '../lib/errors.ts'
import { flag, integer, optionalText, text } from './arguments.ts'
import { commandAnswer } from './command-answer.ts'
import { parseSize } from './terminal-size.ts'
import { defineTool } from './tool.ts'

/** Runs a command in the session's shell. */
export const bash = defineTool({
  name: 'Bash',
  title: 'Run a command',
  description:
    'Runs a command with bash (sh where there is none). Directory and exported variables carry over to the next call; stdin is empty. Gives stdout and stderr as written, then exit code and duration. A command running for 45 s goes on as a background job: follow it with BashOutput. Prefer Read, Glob and Grep over cat, find and grep.',
  input: z.strictObject({
    command: text('The command or script'),
    description: optionalText('What it does, in a few words'),
    timeout: integer(1, 'ms from the start; default 120000, max 600000; none by default in background'),
    run_in_background: flag('Answer at once with a job id'),
    input: z
      .enum(['none', 'pipe', 'pty'])
      .optional()
      .describe('For BashInput; runs in background. pipe: stdin stays open; pty: a terminal, shown as its screen'),
    size: optionalText('Of the pty: columns x rows, default "100x30"'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  maxResultChars: 100_000,
  asTask: true,
  takesWorkspace: true,
  async run({ command, timeout, run_in_background, input = 'none', size }, { session, signal, onProgress, workspace }) {
    if (size !== undefined && input !== 'pty') {
      throw new WorkspaceError('invalid_argument', 'Only a terminal has a size.', {
        hint: 'Give input: "pty" with it, or leave it out.',
      })
    }
    const terminal = size === undefined ? {} : { terminal: parseSize(size) }
    const { shell, files } = await workspace()
    const background = run_in_background ?? input !== 'none'
    const limit = timeout === undefined ? {} : { timeoutMs: timeout }
    const result = await shell.run(
      { session, command, background, input, ...terminal, ...limit },
      { signal, onOutput: onProgress },
    )
    return commandAnswer(result, { workdir: files.workdir, background, input })
  },
})
