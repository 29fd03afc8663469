import { type ChildProcess, fork } from 'node:child_process'
import { WorkspaceError } from '../../lib/errors.ts'
import { builtProgram, endChild } from '../program-child.ts'
import type { Screen, ScreenJob } from './screen.ts'

const NAME = 'terminal.mjs'
const LIMIT_MS = 20_000
const HEAP_MB = 128

export interface ScreenOptions {
  /** Path of the program that plays logs; absent: the built one. */
  script?: string | undefined
  signal?: AbortSignal | undefined
}

/** The screen at the end of a log, played in a process of its own with limited memory and time: the log is not to be trusted. */
export async function screenOf(job: ScreenJob, options: ScreenOptions = {}): Promise<Screen> {
  options.signal?.throwIfAborted()
  const child = fork(builtProgram({ name: NAME, what: 'program that shows terminals' }, options.script), [], {
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  try {
    return await answerOf(child, job, options.signal)
  } finally {
    await endChild(child)
  }
}

function answerOf(child: ChildProcess, job: ScreenJob, signal: AbortSignal | undefined): Promise<Screen> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      then()
    }
    const fail = (error: Error) => settle(() => reject(error))
    const tooMuch = (what: string) =>
      fail(new WorkspaceError('too_large', `The terminal's output takes too much ${what} to be shown.`))
    const abort = () => fail(new WorkspaceError('cancelled', 'Showing the terminal was cancelled.'))
    const timer = setTimeout(() => tooMuch('time'), LIMIT_MS)
    signal?.addEventListener('abort', abort)
    child.once('message', (screen: Screen) => settle(() => resolve(screen)))
    child.once('error', error => fail(new WorkspaceError('internal', `The terminal could not be shown: ${error.message}`)))
    child.once('exit', () => tooMuch('memory'))
    // a child that is gone already is told by its end
    child.send(job, () => {})
  })
}
