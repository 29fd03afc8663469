import { randomBytes } from 'node:crypto'
import WebSocket from 'ws'
import { quote } from '../../gateway/commands/quote.ts'
import { onAbort } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { AnswerError } from './errors.ts'
import { execInside } from './exec.ts'
import { controlOf, exitCodeOf, PtyStream } from './pty-stream.ts'
import { type DaytonaContext, type Sandbox, toolboxUrl } from './sdk.ts'

const HANDSHAKE_MS = 10_000
/** A login shell with a long start-up file. */
const READY_MS = 20_000
const KILL_MS = 5_000
/** The line discipline of a terminal takes no longer line. */
const MAX_LINE = 4_000
const MAX_NOISE = 256 * 1024
const READY = /\x01ATELIER (\d+)\x02/
const NOT_FOUND = 404

/**
 * Starts a program on a raw terminal of a sandbox and gives its bytes; its error output is dropped. What the shell writes before
 * the program starts never reaches the stream. The program is given a moment after its end, in which its last bytes arrive.
 */
export async function openPty(
  context: DaytonaContext,
  sandbox: Sandbox,
  argv: readonly string[],
  { signal }: CallOptions = {},
): Promise<PtyStream> {
  const line = lineFor(argv)
  const id = `atelier-${randomBytes(8).toString('hex')}`
  const base = `${toolboxUrl(sandbox)}/process/pty`
  const what = `A terminal in sandbox ${sandbox.name}`
  await context.calls.run(what, () => request(context, base, { method: 'POST', body: { id, ...SIZE } }), { signal })
  let socket: WebSocket | undefined
  try {
    socket = connect(context, `${base.replace(/^http/, 'ws')}/${id}/connect`)
    return await ready(socket, line, { signal, kill: pid => void killInside(context, sandbox, pid) })
  } catch (error) {
    socket?.terminate()
    await request(context, `${base}/${id}`, { method: 'DELETE' }).catch(reason => {
      context.logger.debug({ sandbox: sandbox.name, reason: toWorkspaceError(reason).message }, 'a terminal was not removed')
    })
    throw signal?.aborted ? error : context.calls.error(error, what)
  }
}

const SIZE = { cwd: '/', cols: 200, rows: 50, lazyStart: true }

/** The shell's first line. The program's number comes before its first byte, written so that the echo of the line does not match. */
function lineFor(argv: readonly string[]): string {
  const program = `printf "\\001ATELIER %d\\002" "$$"; exec "$@" 2>/dev/null`
  const script = `stty raw -echo && sh -c ${quote(program)} sh "$@"; code=$?; sleep 0.3 || sleep 1; exit $code`
  const line = `exec sh -c ${quote(script)} sh ${argv.map(quote).join(' ')}\n`
  if (line.length < MAX_LINE && !/[\x00-\x09\x0b-\x1f]/.test(line) && line.indexOf('\n') === line.length - 1) return line
  throw new WorkspaceError('invalid_argument', `The command can't be typed into a terminal: ${line.slice(0, 80)}…`, {
    hint: 'Use a shorter daytona.workdir, without control characters.',
  })
}

interface Request {
  method: 'POST' | 'DELETE'
  body?: object
}

/** A request that the SDK has no call for. */
async function request({ headers }: DaytonaContext, url: string, { method, body }: Request): Promise<void> {
  const answer = await fetch(url, {
    ...{ method, headers: { ...headers, 'Content-Type': 'application/json' } },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(HANDSHAKE_MS),
  })
  const text = await answer.text()
  if (answer.ok || (method === 'DELETE' && answer.status === NOT_FOUND)) return
  throw new AnswerError(wordsOf(text) || answer.statusText, answer.status, Object.fromEntries(answer.headers))
}

function wordsOf(text: string): string {
  try {
    const { message, error } = JSON.parse(text) as { message?: unknown; error?: unknown }
    return String(message ?? error ?? text)
  } catch {
    return text
  }
}

function connect({ headers }: DaytonaContext, url: string): WebSocket {
  return new WebSocket(url, { headers, handshakeTimeout: HANDSHAKE_MS, perMessageDeflate: false })
}

interface Start extends CallOptions {
  kill(pid: number): void
}

/** Types the line once the terminal is there, and drops everything up to the sign that the program starts. */
function ready(socket: WebSocket, line: string, { signal, kill }: Start): Promise<PtyStream> {
  return new Promise((resolve, reject) => {
    let noise = Buffer.alloc(0)
    const over = (): void => {
      clearTimeout(timer)
      off()
      socket.off('message', take).off('close', closed).off('unexpected-response', refused)
      // An error of a socket that is let go of has no one else to hear it.
      socket.off('error', fail).on('error', () => {})
    }
    const fail = (error: Error): void => {
      over()
      reject(error)
    }
    const take = (data: Buffer, binary: boolean): void => {
      const control = binary ? undefined : controlOf(data)
      if (control?.status === 'connected') socket.send(Buffer.from(line))
      else if (control?.error !== undefined) fail(new AnswerError(control.error, NOT_FOUND))
      if (control !== undefined) return
      noise = Buffer.concat([noise, data]).subarray(-MAX_NOISE)
      const found = READY.exec(noise.toString('latin1'))
      if (found === null) return
      over()
      const [sign, pid] = found
      // At once: the next message may be on its heels.
      resolve(new PtyStream(socket, { first: noise.subarray(found.index + sign.length), kill: () => kill(Number(pid)) }))
    }
    const closed = (code: number, reason: Buffer): void => fail(new Error(ended(code, reason.toString(), noise)))
    const refused = (_: unknown, answer: { statusCode?: number; statusMessage?: string }): void =>
      fail(new AnswerError(answer.statusMessage ?? 'refused', answer.statusCode ?? 0))
    const timer = setTimeout(() => fail(new Error(ended(0, 'nothing for too long', noise))), READY_MS)
    const off = onAbort(signal, fail)
    socket.on('message', take).on('close', closed).on('unexpected-response', refused).on('error', fail)
  })
}

function ended(code: number, reason: string, noise: Buffer): string {
  const exit = exitCodeOf(reason)
  const why = exit === undefined ? `closed (${code}${reason === '' ? '' : `, ${reason}`})` : `its shell ended with ${exit}`
  const said = noise.toString('utf8').replace(/\s+/g, ' ').trim().slice(-300)
  return `the terminal was not ready: ${why}${said === '' ? '' : `; it said: ${said}`}`
}

/** Ends a program whose terminal stays behind. Removing the terminal would end the daemon that it started too. */
async function killInside(context: DaytonaContext, sandbox: Sandbox, pid: number): Promise<void> {
  try {
    await execInside(context, sandbox, ['sh', '-c', 'kill -s TERM "$1"', 'sh', String(pid)], { timeoutMs: KILL_MS })
  } catch (error) {
    context.logger.debug({ sandbox: sandbox.name, reason: toWorkspaceError(error).message }, 'a program was not ended')
  }
}
