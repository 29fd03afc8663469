import type { WebSocket } from 'ws'
import { formatMs, onAbort } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { request } from './execd.ts'
import { PtyStream, parse } from './pty-stream.ts'
import type { ExecdPlace } from './sdk.ts'
import type { OpenSandboxContext } from './service.ts'

/** A process is started and its stream open within this. */
const OPEN_MS = 15_000
const LATE = `A command in the sandbox gave no stream within ${formatMs(OPEN_MS)}: it may be paused, or gone.`
const REMOVE_MS = 5_000
/** Each frame of the other side has at most 32 KiB; a replay is never asked for. */
const MAX_MESSAGE_BYTES = 4 * 1024 ** 2

export interface PtyOptions extends CallOptions {
  stderr(bytes: Buffer): void
  pong?(): void
}

/**
 * Runs `command` by bash in a session of its own and gives its stdin and stdout. The session is used once and removed, with the
 * group of processes in it, when the stream is over: one that is opened again would run its command again.
 */
export async function openPty(
  context: OpenSandboxContext,
  place: ExecdPlace,
  command: string,
  options: PtyOptions,
): Promise<PtyStream> {
  const { signal } = options
  const made = (await request(
    context,
    place,
    { method: 'POST', path: '/pty', body: { command } },
    { signal, timeoutMs: OPEN_MS },
  )) as { session_id?: string } | undefined
  const id = made?.session_id
  if (id === undefined) throw new WorkspaceError('protocol', 'The sandbox made a session without an id.')
  const path = `/pty/${encodeURIComponent(id)}`
  const remove = (): void => {
    request(context, place, { method: 'DELETE', path }, { timeoutMs: REMOVE_MS }).catch(error =>
      context.logger.debug({ session: id, reason: toWorkspaceError(error).message }, 'a session was not removed'),
    )
  }
  try {
    const socket = await dial(place, path)
    const stream = new PtyStream(socket, { stderr: options.stderr, pong: options.pong ?? (() => {}), over: remove })
    // Who reads it comes a moment later, and may come too late to hear.
    stream.on('error', () => {})
    await connected(socket, stream, signal)
    return stream
  } catch (error) {
    remove()
    throw error
  }
}

async function dial({ url, headers }: ExecdPlace, path: string): Promise<WebSocket> {
  const { WebSocket } = await import('ws')
  return new WebSocket(`${url.replace(/^http/, 'ws')}${path}/ws?pty=0`, {
    headers,
    handshakeTimeout: OPEN_MS,
    // The server's proxy would agree to compress, at a tenth of the speed.
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
  })
}

/** Waits for the first word of the other side. */
async function connected(socket: WebSocket, stream: PtyStream, signal: AbortSignal | undefined): Promise<void> {
  const ends: (() => void)[] = []
  try {
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new WorkspaceError('timeout', LATE)), OPEN_MS)
      const hear = (data: unknown, binary: boolean): void => {
        if (!binary && parse(String(data)).type === 'connected') resolve()
      }
      const refused = (_: unknown, { statusCode }: { statusCode?: number }): void =>
        reject(Object.assign(new Error(`The stream was refused with status ${statusCode}`), { statusCode }))
      const closed = (): void => reject(stream.errored ?? new WorkspaceError('unavailable', 'The stream was closed at once'))
      socket.on('message', hear)
      socket.once('unexpected-response', refused)
      stream.once('error', reject)
      stream.once('close', closed)
      ends.push(() => {
        clearTimeout(late)
        socket.off('message', hear)
        socket.off('unexpected-response', refused)
        stream.off('error', reject)
        stream.off('close', closed)
      })
      ends.push(onAbort(signal, reject))
    })
  } catch (error) {
    stream.destroy()
    throw error
  } finally {
    for (const end of ends) end()
  }
}
