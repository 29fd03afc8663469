import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { Duplex } from 'node:stream'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, ExecOptions, ExecResult } from '../backend.ts'
import { collectOutput, MAX_OUTPUT } from '../collect-output.ts'

/**
 * Starts a process and gives its stdin and stdout as one stream; stderr is appended to `log`. The process's group ends with
 * the stream, or at once on abort. Rejects (`not_found`, `permission_denied`) when it can't be started.
 */
export async function openProcess(
  argv: readonly string[],
  place: { cwd: string; log: string },
  options: CallOptions = {},
): Promise<Duplex> {
  throwIfAborted(options.signal, argv)
  const log = openSync(place.log, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW, 0o600)
  let child: ChildProcess
  try {
    child = spawn(argv[0] ?? '', argv.slice(1), { cwd: place.cwd, detached: true, stdio: ['pipe', 'pipe', log] })
  } finally {
    closeSync(log)
  }
  await started(child, argv)
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new WorkspaceError('internal', `${argv[0]}: started without pipes.`)
  const stream = Duplex.from({ readable: stdout, writable: stdin }) as Duplex
  const abort = () => stream.destroy(new WorkspaceError('cancelled', `${argv[0]}: cancelled.`))
  options.signal?.addEventListener('abort', abort, { once: true })
  // Whoever reads hears of it too; an abort between two readers must not end the host.
  stream.on('error', () => {})
  stream.once('close', () => {
    options.signal?.removeEventListener('abort', abort)
    if (child.exitCode === null && child.signalCode === null) killGroup(child, 'SIGTERM')
  })
  return stream
}

/** Runs a process to its end. Its group is killed on abort (`cancelled`) and at the time limit (`timeout`). */
export async function runProcess(argv: readonly string[], cwd: string, options: ExecOptions = {}): Promise<ExecResult> {
  throwIfAborted(options.signal, argv)
  const child = spawn(argv[0] ?? '', argv.slice(1), { cwd, detached: true, stdio: 'pipe' })
  let failure: WorkspaceError | undefined
  const stop = (error: WorkspaceError) => {
    failure ??= error
    killGroup(child, 'SIGKILL')
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const abort = () => stop(new WorkspaceError('cancelled', `${argv[0]}: cancelled.`))
  const tooMuch = () => stop(new WorkspaceError('too_large', `${argv[0]}: wrote more than ${MAX_OUTPUT} bytes.`))
  const stdout = collectOutput(child.stdout, tooMuch)
  const stderr = collectOutput(child.stderr, tooMuch)
  const late = () => stop(new WorkspaceError('timeout', `${argv[0]}: no end after ${options.timeoutMs} ms.`))
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(late, options.timeoutMs)
  options.signal?.addEventListener('abort', abort, { once: true })
  try {
    const exit = new Promise<number>(resolve =>
      child.once('close', (code, signal) => resolve(code ?? (signal === null ? -1 : 128))),
    )
    await started(child, argv)
    // A process that does not read its input closes the pipe early; its exit code says the rest.
    child.stdin.on('error', () => {})
    child.stdin.end(options.input)
    const exitCode = await exit
    if (failure !== undefined) throw failure
    return { exitCode, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', abort)
  }
}

function started(child: ChildProcess, argv: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code === 'ENOENT' ? 'not_found' : error.code === 'EACCES' ? 'permission_denied' : 'unavailable'
      reject(new WorkspaceError(code, `${argv[0]}: can't be started: ${error.message}.`, { cause: error }))
    })
  })
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function throwIfAborted(signal: AbortSignal | undefined, argv: readonly string[]): void {
  if (signal?.aborted) throw new WorkspaceError('cancelled', `${argv[0]}: cancelled before it was started.`)
}
