import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, readlinkSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { WorkspaceError } from '../../lib/errors.ts'
import type { TerminalSize } from '../protocol-commands.ts'
import type { Job } from './job.ts'
import type { JobFolders } from './job-record.ts'

const STTY_MS = 5000
/** What a program does about one change of its size. */
const RESIZED_MS = 50
/** A screen is looked at when nothing was written to it for so long … */
const QUIET_MS = 150
/** … or after this, while a program never stops. */
const SETTLE_MS = 1000

/** Gives a job's terminal another size, by which its program is told; notes from where in the log it counts. */
export async function resizeTerminal(job: Job, folders: JobFolders, size: TerminalSize): Promise<void> {
  const tty = terminalOf(await job.pids(), job.record.process?.pid)
  if (tty === undefined) {
    throw new WorkspaceError('precondition_failed', `The terminal of job ${job.id} was not found: no process of it is open.`)
  }
  const at = (await job.info()).bytes
  await stty(tty, size)
  // stty sets one side after the other: who was busy with the first news may have missed the second
  await sleep(RESIZED_MS)
  await job.signal('SIGWINCH')
  job.record.terminal = [...(job.record.terminal ?? []), { at, ...size }]
  await folders.save(job.record)
}

/** Waits until a job's screen stands still, or is over. */
export async function settleScreen(job: Job, log: string, signal: AbortSignal): Promise<void> {
  const until = performance.now() + SETTLE_MS
  while (job.running && performance.now() < until) {
    signal.throwIfAborted()
    const written = await stat(log).then(
      found => found.mtimeMs,
      () => 0,
    )
    const rest = written + QUIET_MS - Date.now()
    if (rest <= 0) return
    await Promise.race([sleep(Math.min(rest, QUIET_MS)), job.ended])
  }
}

/** The terminal that processes of a job have open, its holder aside. */
function terminalOf(pids: readonly number[], holder: number | undefined): string | undefined {
  for (const pid of pids) {
    if (pid === holder) continue
    for (const fd of [0, 1, 2]) {
      const path = link(`/proc/${pid}/fd/${fd}`)
      if (path !== undefined && /^\/dev\/pts\/\d+$/.test(path)) return path
    }
  }
  return undefined
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

async function stty(tty: string, { columns, rows }: TerminalSize): Promise<void> {
  const fd = openSync(tty, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
  const child = spawn('stty', ['rows', String(rows), 'cols', String(columns)], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    stdio: [fd, 'ignore', 'ignore'],
    timeout: STTY_MS,
  })
  closeSync(fd)
  const fault = await new Promise<string | undefined>(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', code => resolve(code === 0 ? undefined : `stty ended with ${code}`))
  })
  if (fault === undefined) return
  throw new WorkspaceError('unsupported', `The terminal could not be resized: ${fault}.`, {
    hint: 'The program stty (coreutils or busybox) is needed.',
  })
}
