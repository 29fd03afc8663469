import { onAbort, throwIfAborted } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { ExecOptions, ExecResult } from '../backend.ts'
import type { CommandHandle, Sandbox } from './sdk.ts'
import { shellCommand } from './shell.ts'

/** Comes before what the command itself prints: a login shell may have said something. */
const MARK = '\u0001atelier\u0001'

interface RunOptions extends ExecOptions {
  user?: string | undefined
}

/** Runs a command to its end. It is killed on abort (`cancelled`) and at the time limit (`timeout`). Other errors are the SDK's. */
export async function runCommand(sandbox: Sandbox, argv: readonly string[], options: RunOptions = {}): Promise<ExecResult> {
  const { signal, timeoutMs, input, user } = options
  const what = argv[0] ?? ''
  throwIfAborted(signal)
  const handle = await sandbox.commands.run(`printf '${MARK}'; exec ${shellCommand(argv)}`, {
    ...{ background: true, timeoutMs: 0, stdin: input !== undefined },
    ...(user === undefined ? {} : { user }),
  })
  let failure: Error | undefined
  const stop = (error: Error): void => {
    failure ??= error
    handle.kill().catch(() => {})
    handle.disconnect().catch(() => {})
  }
  const off = onAbort(signal, () => stop(new WorkspaceError('cancelled', `${what}: cancelled.`)))
  const late = (): void => stop(new WorkspaceError('timeout', `${what}: no end after ${timeoutMs} ms.`))
  const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
  try {
    if (input !== undefined) await give(handle, input)
    const result = await outcome(handle)
    if (failure !== undefined) throw failure
    return result
  } catch (error) {
    throw failure ?? error
  } finally {
    clearTimeout(timer)
    off()
  }
}

async function give(handle: CommandHandle, input: Uint8Array): Promise<void> {
  if (input.length > 0) await handle.sendStdin(input)
  await handle.closeStdin()
}

async function outcome(handle: CommandHandle): Promise<ExecResult> {
  const { exitCode, stdout, stderr } = await handle.wait().catch(error => {
    // Not zero, which is a result.
    if ((error as Error).name === 'CommandExitError') return error as { exitCode: number; stdout: string; stderr: string }
    throw error
  })
  const own = stdout.slice(stdout.indexOf(MARK) + MARK.length)
  return { exitCode, stdout: Buffer.from(own), stderr: Buffer.from(stderr) }
}
