import { OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION } from '../gateway/protocol.ts'
import { type Channel, DEFAULT_WINDOW } from '../gateway/wire-channel.ts'
import type { Frame, RefuseCode, Welcome } from '../gateway/wire-frame.ts'
import type { HeartbeatOptions } from '../gateway/wire-heartbeat.ts'
import { WireStream } from '../gateway/wire-stream.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { Dialled } from './dial.ts'

export interface SessionOptions {
  channel: Channel
  link: string
  epoch: number
  tag: string
  /** Whether the link was welcomed before. */
  resume: boolean
  /** Version of our own gateway program; absent: any compatible build will do. */
  build: string | undefined
  window: number
  heartbeat: HeartbeatOptions
  /** How long the gateway may take to welcome us, in ms. */
  welcomeMs: number
  welcomed(welcome: Welcome): void
}

/** How an attach ended. */
export type SessionEnd =
  | { kind: 'lost'; error: WorkspaceError | undefined; welcomed: boolean; binary: boolean }
  | { kind: 'refused'; code: RefuseCode; message: string }
  | { kind: 'bye'; others: number }

/** One attach from the host's side: handshake, then the channel's frames, until the stream is over. */
export class Session {
  readonly #options: SessionOptions
  readonly #wire: WireStream
  readonly ended: Promise<SessionEnd>
  #end: (end: SessionEnd) => void = () => {}
  #outcome: SessionEnd | undefined
  #welcomed = false
  readonly #limit: NodeJS.Timeout

  constructor({ stream, clean }: Dialled, options: SessionOptions) {
    this.#options = options
    this.ended = new Promise(resolve => (this.#end = resolve))
    this.#wire = new WireStream(stream, {
      side: 'h',
      tag: options.tag,
      heartbeat: options.heartbeat,
      frame: (frame, size, body) => this.#frame(frame, size, body),
      closed: error => this.#closed(error),
    })
    const late = new WorkspaceError('unavailable', `The gateway did not answer within ${Math.round(options.welcomeMs)} ms`)
    this.#limit = setTimeout(() => this.#wire.close(late), options.welcomeMs)
    this.#hello(clean)
    if (clean) this.#wire.probe()
    if (!options.resume) options.channel.attach(this.#wire)
  }

  /** Says goodbye after what was sent before; the gateway answers in kind. */
  bye(mode: 'end' | 'detach'): void {
    this.#wire.write('bye', `"mode":"${mode}"`)
  }

  close(): void {
    this.#wire.close()
  }

  #hello(clean: boolean): void {
    const { link, epoch, resume, channel, build, window } = this.#options
    const fields = {
      ...{ protocol: PROTOCOL_VERSION, oldest: OLDEST_PROTOCOL_VERSION, link, epoch, resume },
      ...{ received: channel.received, window: window || DEFAULT_WINDOW, binary: clean, build },
    }
    this.#wire.write('hello', JSON.stringify(fields).slice(1, -1))
  }

  #frame(frame: Frame, size: number, body: Buffer | undefined): void {
    if (frame.k === 'welcome') this.#welcome(frame)
    else if (frame.k === 'refuse') this.#finish({ kind: 'refused', code: frame.code, message: frame.message.slice(0, 500) })
    else if (frame.k === 'bye') this.#finish({ kind: 'bye', others: frame.others ?? 0 })
    else if (!this.#welcomed) throw new WorkspaceError('protocol', `The gateway sent "${frame.k}" before its welcome`)
    else if (frame.k === 'm' || frame.k === 'a') this.#options.channel.receive(frame, size, body)
  }

  #welcome(welcome: Welcome): void {
    if (this.#welcomed) throw new WorkspaceError('protocol', 'The gateway welcomed twice')
    if (welcome.protocol < OLDEST_PROTOCOL_VERSION || welcome.protocol > PROTOCOL_VERSION) {
      throw new WorkspaceError('protocol', `The gateway chose protocol ${welcome.protocol}`)
    }
    const { channel, resume } = this.#options
    this.#welcomed = true
    clearTimeout(this.#limit)
    if (resume) channel.attach(this.#wire, welcome.received)
    else channel.acknowledge(welcome.received)
    this.#options.welcomed(welcome)
  }

  #finish(outcome: SessionEnd): void {
    this.#outcome = outcome
    this.#wire.close()
  }

  #closed(error: WorkspaceError | undefined): void {
    clearTimeout(this.#limit)
    this.#options.channel.detach()
    this.#end(this.#outcome ?? { kind: 'lost', error, welcomed: this.#welcomed, binary: this.#wire.binary })
  }
}
