import { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { WorkspaceError } from '../../lib/errors.ts'

const STDIN = Buffer.from([0])
const STDOUT = 1
const STDERR = 2
/** The largest message that is sent; the server's proxy takes 16 MiB. */
const MESSAGE_BYTES = 256 * 1024
const BUFFER_BYTES = 256 * 1024

export interface PtyStreamOptions {
  /** What the process says on its stderr. */
  stderr(bytes: Buffer): void
  /** The stream is over, once: whatever ended it, the session is to be removed. */
  over(): void
  /** A ping was answered. */
  pong(): void
}

/**
 * The process of a session as plain bytes: its stdout to read, its stdin to write. There is no half close; destroying it closes.
 * The socket is never paused: a client that does not read for ten seconds loses the stream without a word, so what arrives is
 * buffered here and it is for the reader to bound what is under way.
 */
export class PtyStream extends Duplex {
  readonly #socket: WebSocket
  readonly #options: PtyStreamOptions
  /** The process's exit code, once it was said; -1 for a signal. */
  exitCode: number | undefined

  constructor(socket: WebSocket, options: PtyStreamOptions) {
    super({ highWaterMark: BUFFER_BYTES })
    this.#socket = socket
    this.#options = options
    socket.on('message', (data, binary) => this.#message(data, binary))
    socket.on('error', error => this.destroy(error))
    socket.once('close', (code, reason) => this.#closed(code, reason.toString()))
  }

  /** Asks for a sign of life. */
  ping(): void {
    if (!this.destroyed) this.#socket.send('{"type":"ping"}')
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(chunk, done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.terminate()
    this.#options.over()
    done(error)
  }

  #send(bytes: Buffer, done: (error?: Error | null) => void): void {
    for (let at = 0; at < bytes.length; at += MESSAGE_BYTES) {
      const message = Buffer.concat([STDIN, bytes.subarray(at, at + MESSAGE_BYTES)])
      this.#socket.send(message, at + MESSAGE_BYTES < bytes.length ? () => {} : error => done(error ?? null))
    }
    if (bytes.length === 0) done()
  }

  #message(data: RawData, binary: boolean): void {
    const bytes = data as Buffer
    if (!binary) this.#frame(bytes.toString())
    else if (bytes[0] === STDOUT && !this.readableEnded && !this.destroyed) this.push(bytes.subarray(1))
    else if (bytes[0] === STDERR) this.#options.stderr(bytes.subarray(1))
  }

  #frame(text: string): void {
    const frame = parse(text)
    if (frame.type === 'exit') this.exitCode = Number(frame.exit_code)
    else if (frame.type === 'pong') this.#options.pong()
    else if (frame.type === 'error') {
      this.destroy(failed(frame))
    }
  }

  /** Some output may have been overtaken by the end: who needs to know that all came says so in the bytes. */
  #closed(code: number, reason: string): void {
    if (this.destroyed) return
    if (this.exitCode !== undefined || code === 1000) {
      this.push(null)
      this.once('end', () => this.destroy())
      if (this.readableLength === 0) this.destroy()
      return
    }
    this.destroy(new WorkspaceError('unavailable', `The stream into the sandbox was closed: ${reason || CLOSES[code] || code}`))
  }
}

/** Through the server's proxy a refusal is a close code. */
const CLOSES: Readonly<Record<number, string>> = {
  1006: 'the connection was cut',
  1008: 'its session is gone',
  1009: 'a message was too large',
  1011: 'the sandbox does not answer',
  1012: 'the server is stopping',
  4001: 'another client took it over',
}

function failed({ code, error = code }: ServerFrame): WorkspaceError {
  const hint = code === 'START_FAILED' ? { hint: 'The image needs bash: opensandbox.image.' } : {}
  const kind = code === 'START_FAILED' ? 'unsupported' : 'unavailable'
  return new WorkspaceError(kind, `The stream into the sandbox failed: ${error}`, hint)
}

interface ServerFrame {
  type?: string
  exit_code?: number
  error?: string
  code?: string
}

/** A frame of the program inside; what is none is ignored. */
export function parse(text: string): ServerFrame {
  try {
    return (JSON.parse(text) ?? {}) as ServerFrame
  } catch {
    return {}
  }
}
