import { isRequest } from '../../gateway/nested/request-map.ts'
import type { NestedId } from '../../gateway/protocol.ts'
import { JSON_RPC_CODE, toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { NestedAttachment, NestedEvents, NestedMessage, NestedServerView } from './port.ts'
import type { ScopeParty, ScopeServers } from './scope-servers.ts'

/** One client session's conversation with the servers of a scope. */
export class Attachment implements NestedAttachment, ScopeParty {
  readonly #scope: ScopeServers
  readonly #events: NestedEvents
  readonly #ready: Promise<void>
  #closed = false

  constructor(scope: ScopeServers, events: NestedEvents) {
    this.#scope = scope
    this.#events = events
    scope.join(this)
    this.#ready = scope.load()
    this.#ready.catch(() => {})
  }

  servers(): readonly NestedServerView[] {
    return this.#scope.servers.map(server => server.view)
  }

  ready(): Promise<void> {
    return this.#ready
  }

  refresh(): Promise<readonly string[]> {
    return this.#scope.refresh()
  }

  async ensure(server: string, signal?: AbortSignal): Promise<void> {
    await this.#ready
    await this.#scope.get(server).ensure(signal)
  }

  send(server: string, message: NestedMessage): void {
    if (this.#closed) return
    const found = this.#scope.find(server)
    if (found === undefined) void this.#sendLater(server, message)
    else if (isRequest(message) && message.method === 'tools/call' && !found.isEnabled(message.params?.name)) {
      const what = `The tool ${JSON.stringify(message.params?.name)} of the nested server ${JSON.stringify(server)} is turned off.`
      this.#fail(server, message.id, new WorkspaceError('invalid_argument', what))
    } else found.send(this, message)
  }

  close(): void {
    this.#closed = true
    this.#scope.leave(this)
  }

  message(server: string, message: NestedMessage, related?: NestedId): void {
    if (!this.#closed) this.#events.message(server, message, related)
  }

  changed(): void {
    if (!this.#closed) this.#events.changed()
  }

  /** The declarations may still be on their way. */
  async #sendLater(server: string, message: NestedMessage): Promise<void> {
    try {
      await this.#ready
      this.#scope.get(server)
    } catch (error) {
      if (isRequest(message)) this.#fail(server, message.id, toWorkspaceError(error))
      return
    }
    this.send(server, message)
  }

  #fail(server: string, id: NestedId, error: WorkspaceError): void {
    this.message(server, { jsonrpc: '2.0', id, error: { code: JSON_RPC_CODE[error.code], message: error.text } })
  }
}
