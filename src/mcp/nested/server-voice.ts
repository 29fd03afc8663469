import type { JsonRpcNotification, JsonRpcRequest } from '../message.ts'
import { progressTokenOf } from '../relay.ts'
import type { Announcer, ListKind } from './announcer.ts'
import type { NestedLink } from './nested-link.ts'
import type { Origins } from './routes.ts'
import { type ClientFacts, refusal, wrapOrigin } from './to-client.ts'

type Params = Record<string, unknown>

export interface ServerVoiceOptions {
  emit(message: JsonRpcRequest | JsonRpcNotification, related?: number): void
  announcer: Announcer
  tasks: Origins
  /** The newest request in flight with a server: what a server says of its own accord most likely belongs to it. */
  latest(link: NestedLink, server: string): number | undefined
}

const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/

/** What nested servers say and ask, on its way to the client. */
export class ServerVoice {
  readonly #options: ServerVoiceOptions

  constructor(options: ServerVoiceOptions) {
    this.#options = options
  }

  /** A server asks the client, which must be able to answer. */
  ask(
    link: NestedLink,
    server: string,
    asked: { request: JsonRpcRequest; related: number | undefined; client: ClientFacts },
  ): void {
    const { request, client } = asked
    const refused = refusal(request.method, request.params ?? {}, client)
    if (refused !== undefined) {
      link.send(server, { jsonrpc: '2.0', id: request.id, error: refused })
      return
    }
    const wrap = (id: unknown): string => wrapOrigin({ link: link.number, server, id })
    const { params } = request
    const token = progressTokenOf(params)
    const own = token === undefined ? params : { ...params, _meta: { ...(params?._meta as Params), progressToken: wrap(token) } }
    const id = wrap(request.id)
    this.#options.emit(
      own === undefined ? { ...request, id } : { ...request, id, params: own },
      this.#related(link, server, asked),
    )
  }

  tell(link: NestedLink, server: string, told: { notification: JsonRpcNotification; related: number | undefined }): void {
    const { announcer, emit, tasks } = this.#options
    const { notification } = told
    const { method, params } = notification
    const list = LIST_CHANGED.exec(method)?.[1] as ListKind | undefined
    if (list !== undefined) {
      if (link.catalogue.server(server)?.expose !== 'hidden') announcer.told(list)
    } else if (method === 'notifications/progress') emit(notification)
    else if (method === 'notifications/cancelled') {
      const requestId = wrapOrigin({ link: link.number, server, id: params?.requestId })
      emit({ ...notification, params: { ...params, requestId } }, this.#related(link, server, told))
    } else {
      if (method === 'notifications/tasks/status') tasks.learn(link, params?.taskId, server)
      emit(notification, this.#related(link, server, told))
    }
  }

  #related(link: NestedLink, server: string, { related }: { related: number | undefined }): number | undefined {
    return related ?? this.#options.latest(link, server)
  }
}
