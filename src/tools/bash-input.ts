import { z } from 'zod'
import { WorkspaceError } from '../lib/errors.ts'
import type { JobInput } from '../workspace/ports.ts'
import { flag, optionalText, text } from './arguments.ts'
import { compose } from './compose.ts'
import { onJob } from './job-text.ts'
import { screenAnswer } from './screen-text.ts'
import { parseSize } from './terminal-size.ts'
import { defineTool } from './tool.ts'
import { count } from './units.ts'

/** Writes to the standard input of a job, or types into its terminal. */
export const bashInput = defineTool({
  name: 'BashInput',
  title: 'Send input to a job',
  description:
    'Writes to stdin of a job started with input "pipe" or "pty"; a pty answers with its screen. Text goes as it is: end a line with a newline.',
  input: z.strictObject({
    id: text('Job id'),
    text: z.string().optional(),
    keys: optionalText('pty: keys to press after the text, e.g. "ctrl-c", "down down enter", "esc", "page-up", "f1"'),
    eof: flag('Then close stdin; pty: ctrl-d'),
    size: optionalText('pty: new size, e.g. "120x40"'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  takesWorkspace: true,
  async run({ id, text: data, keys, eof, size }, { session, signal, workspace }) {
    if ((data ?? keys ?? size) === undefined && !eof) {
      throw new WorkspaceError('invalid_argument', `Nothing to send to job ${id}.`, {
        hint: 'Give text, or eof: true, or both; keys or size for a job with input "pty".',
      })
    }
    const request: JobInput = {
      id,
      session,
      ...(data === undefined ? {} : { data }),
      ...(keys === undefined ? {} : { keys }),
      ...(eof === undefined ? {} : { eof }),
      ...(size === undefined ? {} : { terminal: parseSize(size) }),
    }
    const { shell } = await workspace()
    const { bytes, terminal, notices = [] } = await onJob(shell, () => shell.inputJob(request, { signal }))
    if (terminal !== undefined) return screenAnswer(terminal, { notices })
    const sent = data === undefined && keys === undefined ? [] : [`Sent ${count(bytes, 'byte')} to job ${id}.`]
    const done = [...sent, ...(eof ? [`Closed stdin of job ${id}.`] : []), 'BashOutput shows what it answers.']
    return { text: compose(done.join(' '), notices) }
  },
})
