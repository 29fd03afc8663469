import { Duplex } from 'node:stream'
import type { Exec, V1Status } from '@kubernetes/client-node'
import { WorkspaceError } from '../../lib/errors.ts'

type Socket = Awaited<ReturnType<Exec['exec']>>

/** Channels of the protocol `v5.channel.k8s.io`. */
const STDIN = 0
const STDOUT = 1
const STDERR = 2
const STATUS = 3
const CLOSE = 255
const CLOSE_STDIN = Buffer.from([CLOSE, STDIN])
/** Largest part of one message. */
const FRAME_BYTES = 128 * 1024
const BUFFER_BYTES = 256 * 1024
/** Proxies and load balancers cut what is silent for a minute. */
const PING_MS = 25_000

export interface ExecStreamOptions {
  onStderr(part: Buffer): void
  /** What the end of a stream without a process's end really means; absent: as the stream has it. */
  explain?: ((error: WorkspaceError) => Promise<WorkspaceError>) | undefined
}

/**
 * The websocket of one process in a container as plain bytes: its stdout to read, its stdin to write. Ending it half-closes,
 * destroying it closes. One that is cut, or whose process could not be started, is destroyed with `unavailable`.
 */
export class ExecStream extends Duplex {
  #socket: Socket | undefined
  #ping: NodeJS.Timeout | undefined
  #status: V1Status | undefined
  readonly #options: ExecStreamOptions

  constructor(options: ExecStreamOptions) {
    super({ highWaterMark: BUFFER_BYTES })
    this.#options = options
    // The process has ended by then.
    this.once('end', () => this.destroy())
  }

  /** How the process ended; `undefined` while it runs. */
  get status(): V1Status | undefined {
    return this.#status
  }

  /** Takes one message; messages may come before `open` is called. */
  receive(channel: number, data: Buffer): void {
    if (this.destroyed || this.#status !== undefined) return
    if (channel === STDOUT && data.length > 0) {
      if (!this.push(data)) this.#socket?.pause()
    } else if (channel === STDERR) {
      this.#options.onStderr(data)
    } else if (channel === STATUS) {
      this.#status = JSON.parse(data.toString()) as V1Status
      if (hasRun(this.#status)) this.push(null)
      else this.#fail(`The process in the Pod was not started: ${this.#status.message}`)
    }
  }

  /** The websocket is open. */
  open(socket: Socket): void {
    if (this.destroyed) {
      socket.terminate()
      return
    }
    this.#socket = socket
    this.#ping = setInterval(() => socket.ping(), PING_MS)
    socket.on('close', code => this.#cut(`closed with code ${code}`))
    socket.on('error', error => this.#cut(error.message))
  }

  #cut(why: string): void {
    clearInterval(this.#ping)
    if (this.#status !== undefined || this.destroyed) return
    this.#fail(`The stream to the Pod was cut: ${why}`)
  }

  #fail(message: string): void {
    const error = new WorkspaceError('unavailable', message)
    const { explain } = this.#options
    if (explain === undefined) this.destroy(error)
    else
      explain(error).then(
        explained => this.destroy(explained),
        () => this.destroy(error),
      )
  }

  override _read(): void {
    if (this.#socket?.isPaused) this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(chunk, done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  /** Done once the last part has been handed to the operating system. */
  #send(bytes: Buffer, done: (error?: Error | null) => void): void {
    const socket = this.#socket
    if (socket === undefined) {
      done(new WorkspaceError('internal', 'Written before the stream was open'))
      return
    }
    for (let at = 0; at < bytes.length || at === 0; at += FRAME_BYTES) {
      const part = bytes.subarray(at, at + FRAME_BYTES)
      const frame = Buffer.allocUnsafe(part.length + 1)
      frame[0] = STDIN
      part.copy(frame, 1)
      socket.send(frame, at + FRAME_BYTES < bytes.length ? undefined : error => done(error))
    }
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#socket === undefined || this.#status !== undefined) done()
    else this.#socket.send(CLOSE_STDIN, () => done())
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#ping)
    this.#socket?.terminate()
    done(error)
  }
}

function hasRun({ status, details }: V1Status): boolean {
  return status === 'Success' || details?.causes?.some(({ reason }) => reason === 'ExitCode') === true
}
