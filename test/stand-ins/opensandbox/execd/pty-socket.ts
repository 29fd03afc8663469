import { once } from 'node:events'
import type { RawData, WebSocket } from 'ws'
import type { PtySession, Sink } from './pty-session.ts'

const STDIN = 0
const REPLAY = 3
const CHUNK_BYTES = 32 * 1024
/** Unsent bytes beyond which the process is made to wait. */
const ENOUGH_BYTES = 256 * 1024
const PING_MS = Number(process.env.EXECD_PING_MS ?? 30_000)
const READ_LIMIT_MS = Number(process.env.EXECD_READ_LIMIT_MS ?? 60_000)
const WRITE_LIMIT_MS = Number(process.env.EXECD_WRITE_LIMIT_MS ?? 10_000)
const LOOK_MS = 50

/**
 * One client of a session. As the original does, it gives the stream up without closing the socket when the client does not read, or
 * nothing could be read from the client, for too long.
 */
export class PtySocket implements Sink {
  readonly #socket: WebSocket
  readonly #session: PtySession
  readonly #timers: NodeJS.Timeout[] = []
  #dead = false
  #heard = Date.now()
  #written = Date.now()
  #writing = Promise.resolve()

  constructor(socket: WebSocket, session: PtySession, since: number) {
    this.#socket = socket
    this.#session = session
    const replay = (from: number, bytes: Buffer): void => {
      const head = Buffer.alloc(9)
      head[0] = REPLAY
      head.writeBigUInt64BE(BigInt(from), 1)
      socket.send(Buffer.concat([head, bytes]))
    }
    session.attach(this, replay, since)
    this.#say({ type: 'connected', session_id: session.id, mode: 'pipe' })
    socket.on('pong', () => (this.#heard = Date.now()))
    socket.on('message', (data, binary) => this.#message(data, binary))
    socket.once('close', () => this.#giveUp())
    socket.on('error', () => this.#giveUp())
    this.#timers.push(
      setInterval(() => socket.ping(), PING_MS),
      setInterval(() => this.#look(), LOOK_MS),
    )
  }

  takeOver(): void {
    this.#giveUp()
    this.#socket.close(4001, 'TAKEN_OVER')
  }

  output(channel: 1 | 2, bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const part = bytes.subarray(at, at + CHUNK_BYTES)
      this.#socket.send(Buffer.concat([Buffer.from([channel]), part]), () => {
        this.#written = Date.now()
        if (!this.#dead && this.#socket.bufferedAmount < ENOUGH_BYTES) this.#session.resume()
      })
    }
    return this.#socket.bufferedAmount < ENOUGH_BYTES
  }

  exit(code: number): void {
    this.#say({ type: 'exit', exit_code: code })
    this.#giveUp()
    this.#socket.close(1000, 'process exited')
  }

  failed(reason: string): void {
    this.#say({ type: 'error', error: reason, code: 'START_FAILED' })
    this.#giveUp()
    this.#socket.terminate()
  }

  #say(frame: object): void {
    this.#socket.send(JSON.stringify(frame))
  }

  #message(data: RawData, binary: boolean): void {
    this.#heard = Date.now()
    if (this.#dead) return
    const bytes = data as Buffer
    if (binary) {
      if (bytes[0] === STDIN) this.#feed(bytes.subarray(1))
      return
    }
    let frame: { type?: string; signal?: string; data?: string }
    try {
      frame = JSON.parse(bytes.toString())
    } catch {
      return
    }
    if (frame.type === 'stdin') this.#feed(Buffer.from(frame.data ?? ''))
    else if (frame.type === 'signal') this.#session.signal(frame.signal as NodeJS.Signals)
    else if (frame.type === 'ping') this.#say({ type: 'pong' })
    else if (frame.type !== 'resize')
      this.#say({ type: 'error', error: `unknown frame type "${frame.type}"`, code: 'INVALID_FRAME' })
  }

  /** While the process does not take its input nothing more is read from the client, no ping either. */
  #feed(bytes: Buffer): void {
    this.#writing = this.#writing.then(async () => {
      const { input } = this.#session
      if (input === undefined || input.destroyed || input.write(bytes)) return
      this.#socket.pause()
      const over = new AbortController()
      const { signal } = over
      await Promise.race([once(input, 'drain', { signal }), once(input, 'close', { signal })])
        .catch(() => {})
        .finally(() => over.abort())
      this.#socket.resume()
      this.#heard = Math.max(this.#heard, this.#dead ? 0 : Date.now())
    })
  }

  #look(): void {
    const now = Date.now()
    if (this.#socket.bufferedAmount === 0) this.#written = now
    if (now - this.#heard > READ_LIMIT_MS || now - this.#written > WRITE_LIMIT_MS) this.#giveUp()
  }

  #giveUp(): void {
    if (this.#dead) return
    this.#dead = true
    for (const timer of this.#timers) clearInterval(timer)
    this.#session.detach(this)
  }
}
