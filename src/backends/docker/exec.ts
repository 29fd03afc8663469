import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import type Dockerode from 'dockerode'
import { onAbort } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { ExecOptions, ExecResult } from '../backend.ts'
import { collectOutput } from '../collect-output.ts'
import { ExecStream } from './exec-stream.ts'

/** Parts of at most 32 KiB each. */
const MAX_PARTS = 64
const NEWLINE = 10
/** An engine reports the end of a process shortly after its stream. */
const POLL_MS = 10
const POLLS = 200

/** Starts a process in a running container; its stdin and stdout are the stream, its stderr goes to `onStderr`. */
export async function startExec(
  container: Dockerode.Container,
  argv: readonly string[],
  onStderr: (part: Buffer) => void = () => {},
): Promise<{ exec: Dockerode.Exec; stream: Duplex }> {
  const exec = await container.exec({ Cmd: [...argv], AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false })
  const socket = await exec.start({ hijack: true, stdin: true })
  return { exec, stream: new ExecStream(socket, onStderr) }
}

/** The process's number inside comes first on stderr: the engine has no way to end one. */
const WRAPPER = 'echo "$$" >&2; exec "$@"'

/** Runs a command to its end. Its group is killed on abort (`cancelled`) and at the time limit (`timeout`). */
export async function runExec(
  container: Dockerode.Container,
  argv: readonly string[],
  options: ExecOptions = {},
): Promise<ExecResult> {
  const what = argv[0] ?? ''
  const complaints: Buffer[] = []
  const { exec, stream } = await startExec(container, ['sh', '-c', WRAPPER, 'sh', ...argv], part => {
    if (complaints.length < MAX_PARTS) complaints.push(part)
  })
  let failure: WorkspaceError | undefined
  const stop = (error: WorkspaceError): void => {
    failure ??= error
    stream.destroy()
  }
  const off = onAbort(options.signal, () => stop(new WorkspaceError('cancelled', `${what}: cancelled.`)))
  const late = () => stop(new WorkspaceError('timeout', `${what}: no end after ${options.timeoutMs} ms.`))
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(late, options.timeoutMs)
  try {
    const stdout = await collect(stream, options.input, () => stop(new WorkspaceError('too_large', `${what}: wrote too much.`)))
    if (failure !== undefined) throw failure
    const stderr = Buffer.concat(complaints)
    return { exitCode: await exitCodeOf(exec), stdout, stderr: stderr.subarray(stderr.indexOf(NEWLINE) + 1) }
  } catch (error) {
    if (failure !== undefined) await killGroup(container, Buffer.concat(complaints).toString('latin1'))
    throw failure ?? error
  } finally {
    clearTimeout(timer)
    off()
  }
}

async function collect(stream: Duplex, input: Uint8Array | undefined, tooMuch: () => void): Promise<Buffer> {
  const chunks = collectOutput(stream, tooMuch)
  stream.end(input)
  await new Promise<void>(resolve => stream.once('close', () => resolve()))
  return Buffer.concat(chunks)
}

async function exitCodeOf(exec: Dockerode.Exec): Promise<number> {
  for (let poll = 0; poll < POLLS; poll++) {
    const { Running, ExitCode } = await exec.inspect()
    if (!Running && ExitCode !== null) return ExitCode
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
  throw new WorkspaceError('unavailable', 'The engine did not say how a command ended.')
}

async function killGroup(container: Dockerode.Container, stderr: string): Promise<void> {
  const pid = /^(\d+)\n/.exec(stderr)?.[1]
  if (pid === undefined) return
  const { stream } = await startExec(container, ['sh', '-c', 'kill -s KILL -- "-$1"', 'sh', pid])
  stream.end()
  await text(stream).catch(() => '')
}
