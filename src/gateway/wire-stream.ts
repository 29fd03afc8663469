import type { Duplex } from 'node:stream'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import { asciiJson, FrameReader } from '../lib/frames.ts'
import type { Port } from './wire-channel.ts'
import { checkFrame, type Frame, parseLine, type RefuseCode, type Side } from './wire-frame.ts'
import { Heartbeat, type HeartbeatOptions } from './wire-heartbeat.ts'

/** A peer that leaves this much unread is cut off; the window keeps honest ones far below. */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024
const PROBE = Buffer.from(Array.from({ length: 256 }, (_, value) => value))

export interface WireStreamOptions {
  side: Side
  /** The host's tag of this attach; the gateway learns it from the first `hello`. */
  tag?: string
  heartbeat: HeartbeatOptions
  /** A checked frame of this attach and its size on the wire; what it throws ends the stream. */
  frame(frame: Frame, size: number, body?: Buffer): void
  /** The stream is over, once. */
  closed(error: WorkspaceError | undefined): void
}

/** One attach: frames on one byte stream, with its heartbeat. Ends for good with the stream. */
export class WireStream implements Port {
  readonly #stream: Duplex
  readonly #options: WireStreamOptions
  readonly #reader: FrameReader
  readonly #heartbeat: Heartbeat
  #tag: string | undefined
  #awaitsBody: Frame | undefined
  #pending: (string | Buffer)[] = []
  #closed = false
  #binary = false
  /** Lines that were no frames of this attach. */
  skipped = 0

  constructor(stream: Duplex, options: WireStreamOptions) {
    this.#stream = stream
    this.#options = options
    this.#tag = options.tag
    this.#reader = new FrameReader({ line: text => this.#line(text), body: bytes => this.#body(bytes) })
    this.#heartbeat = new Heartbeat(options.heartbeat, {
      ask: () => this.write('ping', ''),
      dead: () => this.close(new WorkspaceError('unavailable', `The peer has been silent for ${options.heartbeat.deadMs} ms`)),
    })
    stream.on('data', (chunk: Buffer | string) => this.#data(chunk))
    stream.on('error', error =>
      // Whoever made the stream may know what its end means.
      this.close(
        error instanceof WorkspaceError
          ? error
          : new WorkspaceError('unavailable', `The stream broke: ${error.message}`, { cause: error }),
      ),
    )
    stream.on('end', () => this.close())
    stream.on('close', () => this.close())
  }

  /** Whether the stream proved to carry all byte values. */
  get binary(): boolean {
    return this.#binary
  }

  get tag(): string | undefined {
    return this.#tag
  }

  /** Writes a frame; those of one turn of the event loop go out together. */
  write(kind: string, fields: string, body?: Buffer): void {
    if (this.#closed || this.#tag === undefined) return
    if (this.#pending.length === 0) setImmediate(() => this.flush())
    const lead = kind === 'hello' || kind === 'welcome' ? '\n' : ''
    const comma = fields === '' ? '' : ','
    this.#pending.push(`${lead}{"d":"${this.#options.side}","t":"${this.#tag}","k":"${kind}"${comma}${fields}}\n`)
    if (body !== undefined) this.#pending.push(body)
  }

  /** Says why there will be no link, and ends the stream. */
  refuse(code: RefuseCode, message: string): void {
    this.write('refuse', `"code":"${code}","message":${asciiJson(message)}`)
    this.close()
  }

  /** Sends all byte values; a peer that sees them intact answers in kind. */
  probe(): void {
    this.write('probe', `"b":${PROBE.length}`, PROBE)
  }

  flush(): void {
    if (this.#closed || this.#pending.length === 0) return
    const parts = this.#pending
    this.#pending = []
    if (parts.every(part => typeof part === 'string')) this.#stream.write(parts.join(''), 'latin1')
    else {
      this.#stream.cork()
      for (const part of parts) this.#stream.write(part, 'latin1')
      this.#stream.uncork()
    }
    if (this.#stream.writableLength > MAX_UNSENT_BYTES) this.close(new WorkspaceError('unavailable', 'The peer does not read'))
  }

  /** Ends the stream after what was written; with an error at once. */
  close(error?: WorkspaceError): void {
    if (this.#closed) return
    this.flush()
    this.#closed = true
    this.#heartbeat.stop()
    this.#reader.stop()
    if (error === undefined) this.#stream.end(() => this.#stream.destroy())
    else this.#stream.destroy()
    this.#options.closed(error)
  }

  #data(chunk: Buffer | string) {
    if (this.#closed) return
    this.#heartbeat.heard()
    try {
      this.#reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    } catch (error) {
      this.close(toWorkspaceError(error))
    }
  }

  #line(text: string): number {
    const raw = parseLine(text)
    if (raw === undefined || raw.d === this.#options.side || !this.#accepts(raw.k, raw.t)) {
      this.skipped++
      return 0
    }
    const frame = checkFrame(raw)
    const size = bodyOf(frame)
    if (size === 0) this.#frame(frame, text.length)
    else if (frame.k === 'm' && !this.#binary)
      throw new WorkspaceError('protocol', 'The link carried a raw body that was not agreed on')
    else this.#awaitsBody = frame
    return size
  }

  #accepts(kind: string, tag: string): boolean {
    if (this.#tag !== undefined) return tag === this.#tag && kind !== 'hello'
    if ((kind !== 'hello' && kind !== 'retire') || !/^[\w-]{1,64}$/.test(tag)) return false
    this.#tag = tag
    return true
  }

  #body(bytes: Buffer) {
    const frame = this.#awaitsBody as Frame
    this.#awaitsBody = undefined
    if (frame.k !== 'probe') return this.#frame(frame, bytes.length, bytes)
    if (!bytes.equals(PROBE)) throw new WorkspaceError('protocol', 'The stream is not 8-bit clean')
    if (this.#options.side === 'g') return this.probe()
    this.#binary = true
    this.write('binary', '')
  }

  #frame(frame: Frame, size: number, body?: Buffer): void {
    if (frame.k === 'ping') this.write('pong', '')
    else if (frame.k === 'binary') this.#binary = true
    else if (frame.k !== 'pong') this.#options.frame(frame, size, body)
  }
}

/** Only these kinds have a body, and only in them was its size checked. */
function bodyOf(frame: Frame): number {
  return frame.k === 'm' || frame.k === 'probe' ? (frame.b ?? 0) : 0
}
