import type { Duplex } from 'node:stream'
import type { Logger } from '../lib/log.ts'
import type { Handlers, LinkPort } from './dispatch.ts'
import type { Life } from './life.ts'
import { ServerLink } from './link-server-link.ts'
import { type Notification, type Notifications, OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION } from './protocol.ts'
import type { Frame, Hello, RefuseCode } from './wire-frame.ts'
import { DEFAULT_HEARTBEAT, type HeartbeatOptions } from './wire-heartbeat.ts'
import { WireStream } from './wire-stream.ts'

/** Links that are kept at a time; a host has one for each of its users. */
const MAX_LINKS = 1000

export interface LinkServerOptions {
  instance: string
  version: string
  handlers: Handlers
  life: Life
  log: Logger
  /** Whether an unused daemon of another build gives way to a new one. */
  replaceable: boolean
  /** See `ServerLinkEvents`. */
  baseEnv?: Readonly<Record<string, string>> | undefined
  heartbeat?: HeartbeatOptions
}

/** Takes streams from hosts: finds or makes the link that each belongs to, and keeps the links. */
export class LinkServer {
  readonly #options: LinkServerOptions
  readonly #links = new Map<string, ServerLink>()
  readonly #streams = new Set<WireStream>()

  constructor(options: LinkServerOptions) {
    this.#options = options
  }

  get links(): number {
    return this.#links.size
  }

  /** Serves one attach until its stream ends. */
  accept(stream: Duplex): void {
    let link: ServerLink | undefined
    const wire = new WireStream(stream, {
      side: 'g',
      heartbeat: this.#options.heartbeat ?? DEFAULT_HEARTBEAT,
      frame: (frame, size, body) => {
        if (frame.k === 'hello') link = this.#hello(wire, frame)
        else if (frame.k === 'retire') this.#retire(wire)
        else if (link?.stream === wire) this.#frame(link, frame, { size, body })
      },
      closed: error => {
        this.#streams.delete(wire)
        if (error !== undefined) this.#options.log.info({ link: link?.id, reason: error.message }, 'stream ended')
        if (link?.stream === wire) this.#dropped(link)
      },
    })
    this.#streams.add(wire)
  }

  /** One link, while its host is there or may come back. */
  link(id: string): LinkPort | undefined {
    return this.#links.get(id)
  }

  /** Sends news to every open link. */
  notify<N extends Notification>(name: N, params: Notifications[N]): void {
    for (const link of this.#links.values()) link.notify(name, params)
  }

  /** Ends every stream. */
  close(): void {
    for (const wire of [...this.#streams]) wire.close()
  }

  #hello(wire: WireStream, hello: Hello): ServerLink | undefined {
    const { life, instance } = this.#options
    // It came in before the door was shut: what is on its way out would take its work along.
    if (life.over) return this.#refuse(wire, 'unavailable', 'The gateway is ending')
    const protocol = Math.min(hello.protocol, PROTOCOL_VERSION)
    if (protocol < OLDEST_PROTOCOL_VERSION || protocol < hello.oldest) {
      const message = `The gateway speaks protocol ${OLDEST_PROTOCOL_VERSION} to ${PROTOCOL_VERSION}, the host ${hello.oldest} to ${hello.protocol}`
      return this.#refuse(wire, 'version', message)
    }
    const known = this.#links.get(hello.link)
    if (known === undefined && hello.resume) return this.#refuse(wire, 'unknown_link', 'The gateway does not know this link')
    if (known !== undefined && hello.epoch <= known.epoch)
      return this.#refuse(wire, 'stale', 'A newer stream of this link is attached')
    if (known === undefined && this.#outdated(hello)) {
      this.#refuse(wire, 'outdated', `The gateway is of build ${this.#options.version}; it was idle and gives way`)
      life.finish('replaced by another build')
      return undefined
    }
    if (known === undefined && this.#links.size >= MAX_LINKS)
      return this.#refuse(wire, 'busy', `The gateway has ${MAX_LINKS} links`)
    const link = known ?? this.#open(hello.link)
    wire.write('welcome', `"protocol":${protocol},"instance":"${instance}","received":${link.channel.received}`)
    this.#attach(link, wire, hello)
    return link
  }

  #attach(link: ServerLink, wire: WireStream, hello: Hello): void {
    const before = link.stream
    link.stream = wire
    link.epoch = hello.epoch
    before?.close()
    link.channel.detach()
    link.channel.window = hello.window
    link.channel.attach(wire, hello.received)
    this.#options.life.attached(link)
  }

  #open(id: string): ServerLink {
    const { handlers, life, baseEnv } = this.#options
    const link = new ServerLink(id, handlers, { opened: opened => life.opened(opened), baseEnv })
    this.#links.set(id, link)
    return link
  }

  #outdated({ build }: Hello): boolean {
    const { version, replaceable, life } = this.#options
    return replaceable && build !== undefined && build !== version && version !== 'dev' && build !== 'dev' && life.unused
  }

  #retire(wire: WireStream) {
    if (!this.#options.replaceable || !this.#options.life.unused) return this.#refuse(wire, 'busy', 'The gateway is in use')
    wire.write('bye', '"mode":"end"')
    this.#options.life.finish('asked to give way')
  }

  #frame(link: ServerLink, frame: Frame, { size, body }: { size: number; body: Buffer | undefined }): void {
    if (frame.k === 'm' || frame.k === 'a') link.channel.receive(frame, size, body)
    else if (frame.k === 'bye') this.#goodbye(link, frame.mode)
  }

  #goodbye(link: ServerLink, mode: 'end' | 'detach'): void {
    const wire = link.stream
    link.stream = undefined
    link.channel.detach()
    const others = [...this.#links.values()].filter(other => other !== link && other.attached).length
    wire?.write('bye', `"mode":"${mode}","others":${others}`)
    wire?.close()
    this.#forget(link, 'goodbye')
    this.#options.life.goodbye(link, mode)
  }

  #dropped(link: ServerLink): void {
    link.stream = undefined
    link.channel.detach()
    this.#options.life.dropped(link, () => this.#forget(link, 'lost'))
  }

  #forget(link: ServerLink, reason: 'lost' | 'goodbye'): void {
    this.#links.delete(link.id)
    link.calls.detach(reason)
  }

  #refuse(wire: WireStream, code: RefuseCode, message: string): undefined {
    this.#options.log.warn({ code }, message)
    wire.refuse(code, message)
  }
}
