import { spawn } from 'node:child_process'
import { closeSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WorkspaceError } from '../lib/errors.ts'
import { FINAL_EXIT, OWN_WORDS } from './own-words.ts'

const HINT = 'Correct what it says, then try again.'
/** So much of what a daemon said at its end is told. */
const MAX_REASON = 2000

/** A program that becomes the daemon when run. */
export interface DaemonCommand {
  node: string
  args: readonly string[]
}

/** A daemon that was started by this process. */
export interface StartedDaemon {
  /** Whether its process has ended; one that found another daemon does so without a failure. */
  readonly over: boolean
  /** Why it did not start: `precondition_failed` where another try is of no use, else `unavailable`. */
  readonly failure: WorkspaceError | undefined
  /** Nobody asks for the failure any more. */
  release(): void
}

/** Starts the daemon as a process of its own: in its own session, without our descriptors, at the root directory. */
export function startDaemon({ node, args }: DaemonCommand): StartedDaemon {
  const words = new LastWords()
  let over = false
  let failure: WorkspaceError | undefined
  const failed = (reason: string, final: boolean): void => {
    failure = new WorkspaceError(final ? 'precondition_failed' : 'unavailable', `The gateway did not start: ${reason}`, {
      hint: HINT,
    })
  }
  const child = spawn(node, args, { detached: true, stdio: ['ignore', 'ignore', words.fd ?? 'ignore'], cwd: '/' })
  child.once('error', (error: NodeJS.ErrnoException) => {
    failed(error.message, error.code === 'ENOENT' || error.code === 'EACCES')
    words.close()
  })
  child.once('exit', (code, signal) => {
    over = true
    if (code !== 0) failed(words.read() || `it ended with ${signal ?? `exit code ${code}`}`, code === FINAL_EXIT)
    words.close()
  })
  child.unref()
  return {
    get over() {
      return over
    },
    get failure() {
      return failure
    },
    release: () => words.close(),
  }
}

/** What a process writes to its standard error, in a file without a name: a pipe would break when its reader ends first. */
class LastWords {
  fd: number | undefined

  constructor() {
    const path = join(tmpdir(), `.atelier-${process.pid}-${Math.random().toString(36).slice(2)}`)
    try {
      this.fd = openSync(path, 'wx+', 0o600)
      rmSync(path)
    } catch {
      // Where no such file can be made, the exit code has to do.
    }
  }

  read(): string {
    if (this.fd === undefined) return ''
    const bytes = Buffer.alloc(MAX_REASON)
    const text = bytes.toString('utf8', 0, readSync(this.fd, bytes, 0, MAX_REASON, 0))
    return (text.split(OWN_WORDS).at(-1) as string).trim()
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd)
    this.fd = undefined
  }
}
