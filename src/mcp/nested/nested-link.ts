import type { NestedAttachment, NestedScope, NestedServerView } from '../../workspace/nested-servers/port.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { JsonRpcAnswer, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from '../message.ts'
import { Catalogue, hasCapability, type KeptServer, type OwnNames } from './catalogue.ts'

/** News of a link, given at once and in order. */
export interface LinkEvents {
  answer(link: NestedLink, server: string, answer: JsonRpcAnswer): void
  request(link: NestedLink, server: string, request: JsonRpcRequest, related?: number): void
  notification(link: NestedLink, server: string, notification: JsonRpcNotification, related?: number): void
  changed(link: NestedLink): void
}

export interface LinkOptions {
  /** Unique in its session. */
  number: number
  workspace: Workspace
  scope: NestedScope
  own: OwnNames
  /** Lists of an earlier run, for servers that have not been started yet. */
  kept: readonly KeptServer[] | undefined
}

/** One session's conversation with the nested servers of one scope in one open workspace. */
export class NestedLink {
  readonly number: number
  readonly workspace: Workspace
  readonly scope: NestedScope
  readonly #own: OwnNames
  readonly #kept: Map<string, KeptServer>
  readonly #attachment: NestedAttachment
  readonly #asked = new Map<string, (answer: JsonRpcAnswer) => void>()
  readonly #levels = new Map<string, string>()
  #catalogue: Catalogue | undefined
  #level: string | undefined
  #lastAsked = 0

  constructor(options: LinkOptions, events: LinkEvents) {
    const { number, workspace, scope, own, kept = [] } = options
    this.number = number
    this.workspace = workspace
    this.scope = scope
    this.#own = own
    this.#kept = new Map(kept.map(server => [server.name, server]))
    this.#attachment = workspace.nested.attach(scope, {
      message: (server, message, related) => this.#receive(events, server, { message: message as JsonRpcMessage, related }),
      changed: () => {
        this.#catalogue = undefined
        this.#tellLevels()
        events.changed(this)
      },
    })
  }

  /** Resolves when the declarations were read; servers whose lists nobody knows are then started in the background. */
  async ready(): Promise<void> {
    await this.#attachment.ready()
    this.#catalogue = undefined
    for (const { name, initialize } of this.catalogue.servers) if (initialize === undefined) this.#start(name)
  }

  /** Looks at the declarations again, and starts in the background what somebody declared on disk. */
  async refresh(): Promise<void> {
    for (const name of await this.#attachment.refresh()) {
      this.#kept.delete(name)
      this.#start(name)
    }
    this.#catalogue = undefined
  }

  get catalogue(): Catalogue {
    this.#catalogue ??= new Catalogue(
      this.#attachment.servers().map(view => this.#withKept(view)),
      this.#own,
    )
    return this.#catalogue
  }

  /** Starts a server; throws why it can't be. */
  ensure(server: string, signal?: AbortSignal): Promise<void> {
    return this.#attachment.ensure(server, signal)
  }

  /** Gives a server a message; its request ids are the router's. */
  send(server: string, message: JsonRpcMessage): void {
    this.#attachment.send(server, message as never)
  }

  /** Gives a message to every server that runs. */
  sendToRunning(message: JsonRpcNotification): void {
    for (const { name, state } of this.#attachment.servers()) if (state === 'ready') this.send(name, message)
  }

  /** A request of our own; resolves with the answer, be it an error. */
  ask(server: string, method: string, params: Record<string, unknown>): Promise<JsonRpcAnswer> {
    this.#lastAsked += 1
    const id = `own-${this.#lastAsked}`
    return new Promise(resolve => {
      this.#asked.set(id, resolve)
      this.send(server, { jsonrpc: '2.0', id, method, params })
    })
  }

  /** Running servers that have a capability. */
  running(capability: string): string[] {
    return this.#attachment
      .servers()
      .filter(view => view.state === 'ready' && hasCapability(view, capability))
      .map(({ name }) => name)
  }

  /** The log level that every server is asked for, now or once it runs. */
  setLevel(level: string): void {
    this.#level = level
    this.#tellLevels()
  }

  /** Cancels what is in flight. */
  close(): void {
    this.#attachment.close()
  }

  #start(name: string): void {
    // Why it could not be started stands in its status.
    this.#attachment.ensure(name).catch(() => {})
  }

  #receive(events: LinkEvents, server: string, { message, related }: { message: JsonRpcMessage; related: unknown }): void {
    const own = typeof related === 'number' ? related : undefined
    if (!('method' in message)) {
      const asked = typeof message.id === 'string' ? this.#asked.get(message.id) : undefined
      if (asked === undefined) events.answer(this, server, message)
      else {
        this.#asked.delete(message.id as string)
        asked(message)
      }
    } else if ('id' in message) events.request(this, server, message, own)
    else events.notification(this, server, message, own)
  }

  #withKept(view: NestedServerView): KeptServer {
    const { lists, initialize = view.initialize } = this.#kept.get(view.name) ?? {}
    if (lists === undefined || initialize === undefined) return view
    return { ...view, lists: { ...lists, ...view.lists }, initialize: view.initialize ?? initialize }
  }

  #tellLevels(): void {
    const level = this.#level
    for (const view of this.#attachment.servers()) {
      if (view.state !== 'ready') this.#levels.delete(view.name)
      else if (level !== undefined && this.#levels.get(view.name) !== level && hasCapability(view, 'logging')) {
        this.#levels.set(view.name, level)
        void this.ask(view.name, 'logging/setLevel', { level })
      }
    }
  }
}
