import { Duplex } from 'node:stream'
import type WebSocket from 'ws'

/** A message of more than 64 KiB breaks the connection at the other end. */
const MESSAGE_BYTES = 32 * 1024
const BUFFER_BYTES = 256 * 1024
/** Machines in between end a connection that is silent for about a minute. */
const PING_MS = 25_000
/** A program that was told goodbye ends by itself within this. */
const FAREWELL_MS = 1_500
const NORMAL = 1000

export interface PtyStreamOptions {
  /** What came after the terminal was ready. */
  first: Buffer
  /** Ends the program in the sandbox; called when it does not end by itself after our end. */
  kill(): void
}

/**
 * The bytes of one program on a raw terminal, over its websocket. There is no half-close: ending the stream waits for the program
 * to end, destroying it ends it. A connection that breaks is an error; the program's exit is the end of the stream.
 */
export class PtyStream extends Duplex {
  readonly #socket: WebSocket
  readonly #kill: () => void
  readonly #pings: NodeJS.Timeout
  #farewell: NodeJS.Timeout | undefined
  #over = false
  #letGo = false
  /** The connection is closed, which may be some time after the stream. */
  readonly gone: Promise<void>

  constructor(socket: WebSocket, { first, kill }: PtyStreamOptions) {
    super({ highWaterMark: BUFFER_BYTES })
    this.#socket = socket
    this.#kill = kill
    this.#pings = setInterval(() => socket.ping(), PING_MS).unref()
    socket.on('message', (data, binary) => this.#take(data as Buffer, binary))
    socket.once('error', error => this.destroy(error))
    socket.once('close', (code, reason) => this.#closed(code, reason.toString()))
    this.gone = new Promise(resolve => socket.once('close', () => resolve()))
    if (first.length > 0) this.push(first)
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    let at = 0
    for (; at + MESSAGE_BYTES < chunk.length; at += MESSAGE_BYTES) this.#socket.send(chunk.subarray(at, at + MESSAGE_BYTES))
    this.#socket.send(chunk.subarray(at), error => done(error))
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'binary', done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#pings)
    // Nobody reads any more; what the program still says is thrown away, so that its end is seen.
    this.#socket.resume()
    if (!this.#over) this.#farewell = setTimeout(() => this.#socket.terminate(), FAREWELL_MS).unref()
    done(error)
  }

  /** Lets go of the connection at once; the program learns of it by its silence. */
  letGo(): void {
    this.#letGo = true
    this.destroy()
    clearTimeout(this.#farewell)
    this.#socket.terminate()
  }

  #take(data: Buffer, binary: boolean): void {
    if (this.destroyed || (!binary && isControl(data))) return
    if (!this.push(data)) this.#socket.pause()
  }

  #closed(code: number, reason: string): void {
    this.#over = true
    clearTimeout(this.#farewell)
    clearInterval(this.#pings)
    if (code === NORMAL || exitCodeOf(reason) !== undefined) this.push(null)
    else this.#lost(`the connection to the terminal was closed (${code}${reason === '' ? '' : `, ${reason}`})`)
  }

  /** The program does not learn of it: its terminal is still there. */
  #lost(why: string): void {
    if (!this.#letGo) this.#kill()
    this.destroy(new Error(why))
  }
}

/** Messages in text are about the terminal, not from it. */
function isControl(data: Buffer): boolean {
  return controlOf(data) !== undefined
}

/** What a text message says of the terminal; `undefined` for any other text. */
export function controlOf(data: Buffer): { status: string; error?: string } | undefined {
  try {
    const value = JSON.parse(data.toString()) as { type?: unknown; status?: unknown; error?: unknown }
    if (value?.type !== 'control') return undefined
    return { status: String(value.status), ...(value.error === undefined ? {} : { error: String(value.error) }) }
  } catch {
    return undefined
  }
}

/** The exit code that the reason of a close tells of. */
export function exitCodeOf(reason: string): number | undefined {
  try {
    const { exitCode } = JSON.parse(reason) as { exitCode?: unknown }
    return typeof exitCode === 'number' ? exitCode : undefined
  } catch {
    return undefined
  }
}
