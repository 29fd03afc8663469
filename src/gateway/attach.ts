import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { WorkspaceError } from '../lib/errors.ts'
import { type DaemonCommand, type StartedDaemon, startDaemon } from './daemon-start.ts'
import { dialSocket, socketPath } from './runtime-dir.ts'
import { DEFAULT_HEARTBEAT } from './wire-heartbeat.ts'

const START_LIMIT_MS = 20_000
const POLL_MS = 3
const MAX_POLL_MS = 100
/** The pause between two looks, as a part of the time waited so far. */
const POLL_SHARE = 0.03

/** After the end of input the daemon has this long to take the last of it and to hang up. */
const LAST_BYTES_MS = 1000
/** A host that wants to hear why there is no daemon says hello within this. */
const HELLO_MS = 3000

/**
 * A connection to the daemon of `dir`, which is started by `command`, or waited for, when there is none. Throws `unavailable`,
 * or `precondition_failed` where it can't start there, with the daemon's own reason.
 */
export async function dialDaemon(
  dir: string,
  command: DaemonCommand | undefined,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Socket> {
  const path = socketPath(dir)
  const start = performance.now()
  const deadline = start + START_LIMIT_MS
  let child: StartedDaemon | undefined
  try {
    while (performance.now() < deadline) {
      options.signal?.throwIfAborted()
      const socket = await dialSocket(path)
      if (socket !== undefined) return socket
      if (child?.failure !== undefined) throw child.failure
      if (command !== undefined && (child === undefined || child.over)) child = startDaemon(command)
      await sleep(Math.min(MAX_POLL_MS, Math.max(POLL_MS, (performance.now() - start) * POLL_SHARE)))
    }
  } finally {
    child?.release()
  }
  throw new WorkspaceError('unavailable', `The gateway did not listen on "${path}" within ${START_LIMIT_MS} ms`)
}

/** Relays this process's standard input and output to the daemon until either end is closed; a host is told why there is none. */
export async function attach(dir: string, command: DaemonCommand | undefined): Promise<void> {
  const socket = await dialDaemon(dir, command).catch(async error => {
    if (error instanceof WorkspaceError) await refuseHost(error)
    throw error
  })
  process.stdin.pipe(socket)
  socket.pipe(process.stdout)
  await new Promise<void>(resolve => {
    socket.once('close', resolve)
    socket.once('error', () => resolve())
    process.stdout.once('error', () => resolve())
    process.stdin.once('end', () => setTimeout(resolve, LAST_BYTES_MS).unref())
  })
  if (!process.stdout.destroyed) await new Promise<void>(resolve => process.stdout.write('', () => resolve()))
  socket.destroy()
}

/** Answers the host's `hello` by a refusal with the reason: its error output reaches no host. */
async function refuseHost({ code, message }: WorkspaceError): Promise<void> {
  const { WireStream } = await import('./wire-stream.ts')
  const refusal = code === 'unavailable' ? 'unavailable' : 'failed'
  const late = new AbortController()
  await new Promise<void>(resolve => {
    const wire = new WireStream(Duplex.from({ readable: process.stdin, writable: process.stdout }), {
      ...{ side: 'g', heartbeat: DEFAULT_HEARTBEAT },
      frame: frame => {
        if (frame.k === 'hello') wire.refuse(refusal, message)
      },
      closed: () => resolve(),
    })
    void sleep(HELLO_MS, undefined, { signal: late.signal }).then(
      () => wire.close(),
      () => {},
    )
  })
  late.abort()
}
