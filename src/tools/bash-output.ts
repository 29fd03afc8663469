import { z } from 'zod'
import type { JobReadResult } from '../gateway/protocol.ts'
import type { TerminalView } from '../workspace/ports.ts'
import { integer, optionalText, text } from './arguments.ts'
import { compose, present } from './compose.ts'
import { excerptText } from './excerpt-text.ts'
import { endedLog, jobState, onJob } from './job-text.ts'
import { screenAnswer } from './screen-text.ts'
import { defineTool, type ToolAnswer } from './tool.ts'
import { formatBytes } from './units.ts'

/** Reads what a job wrote since the last read, and how it stands. */
export const bashOutput = defineTool({
  name: 'BashOutput',
  title: 'Read output of a job',
  description:
    'Output of a background job since the last read (or from a byte offset), and its state or exit code. A pty job: its screen as it stands, or its output as text from an offset.',
  input: z.strictObject({
    id: text('Job id'),
    offset: integer(0, 'Byte offset in the log to read from'),
    filter: optionalText('Regular expression: only lines that match'),
    wait: integer(0, 'ms to wait for new output or the end, max 45000'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  maxResultChars: 100_000,
  takesWorkspace: true,
  async run({ id, offset, filter, wait }, { session, signal, workspace }) {
    const { shell } = await workspace()
    const request = {
      id,
      session,
      ...(offset === undefined ? {} : { offset }),
      ...(filter === undefined ? {} : { filter }),
      ...(wait === undefined ? {} : { waitMs: wait }),
    }
    return answer(await onJob(shell, () => shell.readJob(request, { signal })), filter)
  },
})

function answer(result: JobReadResult & { terminal?: TerminalView }, filter: string | undefined): ToolAnswer {
  const { job, output, nextOffset, notices, terminal } = result
  if (terminal !== undefined) return screenAnswer(terminal, { notices })
  const shown = excerptText(output, { fromStart: false })
  const none = filter === undefined ? '(no new output)' : '(no new output matches the filter)'
  const where = job.status === 'running' ? `read up to byte ${nextOffset}` : `full log: ${job.log} (${formatBytes(job.bytes)})`
  const state = `job ${job.id}: ${jobState(job)}; ${where}`
  const text = compose(shown === '' ? none : shown, [state, ...notices])
  const { id, status, exitCode, signal } = job
  const log = endedLog(job) ?? (output.omittedBytes > 0 ? { path: job.log } : undefined)
  return { text, log, structured: present({ id, status, exitCode, signal, nextOffset, log: job.log, output: text }) }
}
