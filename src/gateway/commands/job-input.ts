import { WorkspaceError } from '../../lib/errors.ts'
import type { JobInputParams, JobInputResult } from '../protocol-commands.ts'
import type { Job } from './job.ts'

/** Input that a job has not read yet is kept up to this many bytes. */
const MAX_UNREAD = 1024 * 1024
const CTRL_D = '\x04'

/** What a job's terminal can do beyond taking text. */
export interface TerminalWork {
  resize(job: Job, size: NonNullable<JobInputParams['terminal']>): Promise<void>
  /** Waits for something new on the screen, beyond so many bytes of its log. */
  wait(job: Job, options: { beyond: number; waitMs: number }): Promise<void>
  /** Notes how much of the log a session has seen. */
  seen(session: string, id: string, bytes: number): void
}

/** Writes to a job's standard input, and closes it when told so; gives how many bytes were taken. */
export async function writeInput(job: Job, params: JobInputParams, terminal: TerminalWork): Promise<JobInputResult> {
  const isTerminal = job.record.input === 'pty'
  checkInput(job, params)
  const data = isTerminal ? typed(params) : (params.data ?? '')
  if (isTerminal && params.terminal) await terminal.resize(job, params.terminal)
  const beyond = isTerminal ? (await job.info()).bytes : 0
  const bytes = write(job, data, params.eof === true && !isTerminal)
  if (!isTerminal) return { bytes }
  if (params.waitMs !== undefined) await terminal.wait(job, { beyond, waitMs: params.waitMs })
  const after = await job.info()
  if (params.session !== undefined) terminal.seen(params.session, job.id, after.bytes)
  return { bytes, job: after }
}

function checkInput(job: Job, params: JobInputParams): void {
  const name = `job ${job.id}`
  const { input } = job.record
  if (input === 'none') {
    throw new WorkspaceError('unsupported', `The ${name} was started without an input.`, {
      hint: `Start it again with input: ${params.keys === undefined ? 'pipe' : 'pty'}.`,
    })
  }
  if (input === 'pipe' && (params.keys !== undefined || params.terminal !== undefined)) {
    throw new WorkspaceError('unsupported', `The ${name} has no terminal: keys and size mean nothing to it.`, {
      hint: 'Send text, or start it again with input: pty.',
    })
  }
  if (!job.running)
    throw new WorkspaceError('precondition_failed', `The ${name} is over.`, {
      hint: 'BashOutput reads what it wrote; run it again to type into it.',
    })
}

/** What is sent for text, keys and the end of input, as a person would type them. */
function typed({ data = '', keys = '', eof }: JobInputParams): string {
  return `${data.replace(/\r?\n/g, '\r')}${keys}${eof ? CTRL_D : ''}`
}

function write(job: Job, data: string, end: boolean): number {
  const { input } = job
  if (!input || input.destroyed || input.writableEnded) {
    throw new WorkspaceError('precondition_failed', `The input of job ${job.id} is closed.`, { hint: 'Start the command again.' })
  }
  const bytes = Buffer.byteLength(data)
  if (input.writableLength + bytes > MAX_UNREAD) {
    throw new WorkspaceError('limit_exceeded', `The job ${job.id} has not read ${input.writableLength} bytes of earlier input.`)
  }
  if (data !== '') input.write(data)
  if (end) input.end()
  return bytes
}
