import type { V1Status } from '@kubernetes/client-node'
import { onAbort, sleep, throwIfAborted, withDeadline, withSignal } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, ExecOptions, ExecResult } from '../backend.ts'
import { collectOutput } from '../collect-output.ts'
import type { Cluster } from './cluster.ts'
import { clusterError, isPassing, statusOf } from './errors.ts'
import { ExecStream, type ExecStreamOptions } from './exec-stream.ts'
import { CONTAINER } from './pod-spec.ts'

const MAX_PARTS = 64
const NEWLINE = 10
const OPEN_MS = 20_000
/** Pauses between tries of a stream that the server refused for a passing reason: nothing was started then. */
const PAUSES_MS = [250, 1_000]

interface StartOptions extends Partial<ExecStreamOptions>, CallOptions {
  argv: readonly string[]
}

/**
 * Starts a process in a running Pod; its stdin and stdout are the stream, its stderr goes to `onStderr`. Asks once more with fresh
 * credentials, and again where the server is only busy.
 */
export async function startExec(cluster: Cluster, pod: string, options: StartOptions): Promise<ExecStream> {
  for (let [attempt, fresh] = [0, false]; ; ) {
    throwIfAborted(options.signal)
    try {
      return await connect(cluster, pod, options)
    } catch (error) {
      const status = statusOf(error)
      const pause = status !== undefined && isPassing(error) ? PAUSES_MS[attempt++] : undefined
      if (status === 401 && !fresh) {
        fresh = true
        cluster.reload()
      } else if (pause === undefined) throw clusterError(error, `Pod ${pod}`, cluster.place.server)
      else await sleep(pause, { signal: options.signal })
    }
  }
}

async function connect(
  cluster: Cluster,
  pod: string,
  { argv, onStderr = () => {}, explain, signal }: StartOptions,
): Promise<ExecStream> {
  const stream = new ExecStream({ onStderr, explain })
  const query = new URLSearchParams({ container: CONTAINER, stdin: 'true', stdout: 'true', stderr: 'true', tty: 'false' })
  for (const word of argv) query.append('command', word)
  const path = `/api/v1/namespaces/${cluster.namespace}/pods/${pod}/exec?${query}`
  const opening = cluster.exec().handler.connect(path, null, (channel, data) => {
    stream.receive(channel, data)
    return true
  })
  // One that opens when nobody waits for it any more closes at once.
  const opened = opening.then(
    socket => stream.open(socket),
    error => {
      throw (error as { error?: Error }).error ?? error
    },
  )
  try {
    await withSignal(withDeadline(opened, OPEN_MS, `Opening a stream to Pod ${pod}`), signal)
    return stream
  } catch (error) {
    stream.destroy()
    throw error
  }
}

/** The process's number inside comes first on stderr: the cluster has no way to end one. */
const WRAPPER = 'echo "$$" >&2; exec "$@"'

/** Runs a command to its end. Its group is killed on abort (`cancelled`) and at the time limit (`timeout`). */
export async function runExec(
  cluster: Cluster,
  pod: string,
  { argv, signal, timeoutMs, input }: { argv: readonly string[] } & ExecOptions,
): Promise<ExecResult> {
  const what = argv[0] ?? ''
  const complaints: Buffer[] = []
  const onStderr = (part: Buffer) => {
    if (complaints.length < MAX_PARTS) complaints.push(part)
  }
  const stream = await startExec(cluster, pod, { argv: ['sh', '-c', WRAPPER, 'sh', ...argv], onStderr, signal })
  let failure: WorkspaceError | undefined
  const stop = (error: WorkspaceError): void => {
    failure ??= error
    stream.destroy()
  }
  const off = onAbort(signal, () => stop(new WorkspaceError('cancelled', `${what}: cancelled.`)))
  const late = () => stop(new WorkspaceError('timeout', `${what}: no end after ${timeoutMs} ms.`))
  const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
  try {
    const stdout = await collect(stream, input, () => stop(new WorkspaceError('too_large', `${what}: wrote too much.`)))
    if (failure !== undefined) throw failure
    const stderr = Buffer.concat(complaints)
    return { exitCode: exitCodeOf(stream.status, what), stdout, stderr: stderr.subarray(stderr.indexOf(NEWLINE) + 1) }
  } catch (error) {
    if (failure !== undefined) await killGroup(cluster, pod, Buffer.concat(complaints).toString('latin1'))
    throw failure ?? error
  } finally {
    clearTimeout(timer)
    off()
  }
}

async function collect(stream: ExecStream, input: Uint8Array | undefined, tooMuch: () => void): Promise<Buffer> {
  let broken: Error | undefined
  stream.once('error', error => (broken = error))
  const chunks = collectOutput(stream, tooMuch)
  stream.end(input)
  await new Promise<void>(resolve => stream.once('close', () => resolve()))
  if (broken !== undefined && stream.status === undefined) throw broken
  return Buffer.concat(chunks)
}

/** Exit code of a process; one that could not be started throws `unavailable` with the runtime's words. */
export function exitCodeOf(status: V1Status | undefined, what: string): number {
  if (status?.status === 'Success') return 0
  const code = status?.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  if (code !== undefined) return Number(code)
  throw new WorkspaceError('unavailable', `${what}: ${status?.message ?? 'the stream ended without a status'}`)
}

async function killGroup(cluster: Cluster, pod: string, stderr: string): Promise<void> {
  const pid = /^(\d+)\n/.exec(stderr)?.[1]
  if (pid === undefined) return
  try {
    const stream = await startExec(cluster, pod, { argv: ['sh', '-c', 'kill -s KILL -- "-$1"', 'sh', pid] })
    await collect(stream, undefined, () => {})
  } catch {
    // It goes with its Pod then; what counts is why it was to be killed.
  }
}
