import { z } from 'zod'
import { WorkspaceError } from '../lib/errors.ts'
import { nearest } from '../lib/suggest.ts'
import { optionalText, text } from './arguments.ts'
import { endedLog, jobState, onJob } from './job-text.ts'
import { defineTool } from './tool.ts'

const SIGNALS = ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGSTOP', 'SIGCONT'] as const

/** Ends a job with everything that it started, or sends it another signal. */
export const killBash = defineTool({
  name: 'KillBash',
  title: 'End a job',
  description: 'Ends a background job with all its processes (SIGTERM, then SIGKILL), or sends another signal.',
  input: z.strictObject({
    id: text('Job id'),
    signal: optionalText('e.g. SIGINT, sent alone'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  takesWorkspace: true,
  async run({ id, signal: wanted }, { signal, workspace }) {
    const name = wanted === undefined ? undefined : signalNamed(wanted)
    const { shell } = await workspace()
    const job = await onJob(shell, () => shell.killJob(name === undefined ? { id } : { id, signal: name }, { signal }))
    const state = job.status === 'running' ? ` got ${name ?? 'SIGKILL'} and is still running` : ` is over: ${jobState(job)}`
    const log = endedLog(job) ?? { path: job.log }
    return { text: `Job ${id}${state}. Log: ${job.log}`, log, structured: { id, status: job.status, log: job.log } }
  },
})

function signalNamed(wanted: string): string {
  const upper = wanted.toUpperCase()
  const name = upper.startsWith('SIG') ? upper : `SIG${upper}`
  const found = SIGNALS.find(known => known === name)
  if (found !== undefined) return found
  const near = nearest(name, SIGNALS)
  throw new WorkspaceError(
    'invalid_argument',
    `Unknown signal "${wanted}".${near === undefined ? '' : ` Did you mean ${near}?`}`,
    {
      hint: `The signals are: ${SIGNALS.join(', ')}.`,
    },
  )
}
