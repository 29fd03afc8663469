import type { JsonRpcAnswer, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, RequestId } from './message.ts'
import { type Claim, LIST_KEYS, mergeLists, pageOf, progressTokenOf, type Upstream, withProgressToken } from './relay.ts'
import { errorAnswer, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, isAnswer, isRequestId } from './shape.ts'

export interface RouterOptions {
  /** Answers whatever no other upstream owns; its part of a list comes first. */
  own: Upstream
  /** What else there is; the first that owns a request gets it. */
  upstreams?: readonly Upstream[]
  send(message: JsonRpcMessage, related?: RequestId): void
  /** Items of one page of a merged list. */
  pageSize?: number
}

interface Forward {
  upstream: Upstream
  /** The client's own id and progress token. */
  id: RequestId
  token: unknown
  settle(answer: JsonRpcAnswer): void
}

interface Backward {
  upstream: Upstream
  id: RequestId
  token: unknown
}

/** Carries messages between one client and the servers below, keeping their order, ids and tokens apart. */
export class Router {
  readonly #options: RouterOptions
  readonly #all: readonly Upstream[]
  readonly #forward = new Map<number, Forward>()
  readonly #backward = new Map<number, Backward>()
  readonly #open = new Map<RequestId, number[]>()
  #lastForward = 0
  #lastBackward = 0

  constructor(options: RouterOptions) {
    this.#options = options
    this.#all = [options.own, ...(options.upstreams ?? [])]
    for (const upstream of this.#all) upstream.connect((message, related) => this.#fromUpstream(upstream, message, related))
  }

  /** The client's requests that have no answer yet. */
  get inFlight(): number {
    return this.#open.size
  }

  fromClient(message: JsonRpcMessage): void {
    if (isAnswer(message)) this.#clientAnswer(message)
    else if ('id' in message) this.#clientRequest(message)
    else this.#clientNotification(message)
  }

  async close(): Promise<void> {
    this.#open.clear()
    this.#forward.clear()
    this.#backward.clear()
    await Promise.all(this.#all.map(upstream => upstream.close()))
  }

  #clientRequest(request: JsonRpcRequest): void {
    const { id, method, params = {} } = request
    if (this.#open.has(id)) {
      this.#options.send(errorAnswer(id, INVALID_REQUEST, `Request id ${JSON.stringify(id)} is already in flight.`), id)
      return
    }
    const parts: number[] = []
    this.#open.set(id, parts)
    const key = LIST_KEYS[method]
    const lists = key === undefined ? [] : this.#all.filter(upstream => upstream.lists(method))
    if (key !== undefined && lists.length > 1) this.#merged(request, key, lists)
    else this.#routed(request, this.#all.slice(1), { params, parts })
  }

  /** Asks one after the other whether the request is theirs. The answer may take a while: the client can cancel meanwhile. */
  #routed(
    request: JsonRpcRequest,
    [candidate, ...others]: readonly Upstream[],
    given: { params: Record<string, unknown>; parts: number[] },
  ): void {
    const decide = (claim: Claim): void => {
      if (this.#open.get(request.id) !== given.parts) return
      if (claim || candidate === undefined) this.#sent(candidate ?? this.#options.own, request, claim)
      else this.#routed(request, others, given)
    }
    const claim = candidate?.owns(request.method, given.params)
    if (claim instanceof Promise) void claim.then(decide, error => this.#answer(request.id, failure(error)))
    else decide(claim)
  }

  #sent(upstream: Upstream, request: JsonRpcRequest, claim: Claim): void {
    this.#down(upstream, request, { claim, settle: answer => this.#answer(request.id, answer) })
  }

  #merged(request: JsonRpcRequest, key: string, parts: readonly Upstream[]): void {
    const { cursor, ...params } = request.params ?? {}
    const whole = cursor === undefined ? request : { ...request, params }
    const results: unknown[] = new Array(parts.length)
    let missing = parts.length
    for (const [index, upstream] of parts.entries()) {
      const settle = (answer: JsonRpcAnswer): void => {
        results[index] = answer.result
        missing -= 1
        if (missing > 0) return
        const result = pageOf(key, mergeLists(key, results), {
          cursor,
          ...(this.#options.pageSize !== undefined && { size: this.#options.pageSize }),
        })
        const wrong = errorAnswer(null, INVALID_PARAMS, `${JSON.stringify(cursor)} is no cursor of this list.`)
        this.#answer(request.id, result === undefined ? wrong : { jsonrpc: '2.0', id: null, result })
      }
      this.#down(upstream, whole, { settle })
    }
  }

  #down(upstream: Upstream, request: JsonRpcRequest, { settle, claim }: { settle: Forward['settle']; claim?: Claim }): void {
    this.#lastForward += 1
    const id = this.#lastForward
    const token = progressTokenOf(request.params)
    this.#forward.set(id, { upstream, id: request.id, token, settle })
    this.#open.get(request.id)?.push(id)
    const params = token === undefined ? request.params : withProgressToken(request.params, id)
    upstream.receive(params === undefined ? { ...request, id } : { ...request, id, params }, claim)
  }

  #answer(id: RequestId, answer: JsonRpcAnswer): void {
    this.#open.delete(id)
    this.#options.send({ ...answer, id }, id)
  }

  #clientAnswer(answer: JsonRpcAnswer): void {
    const waiting = typeof answer.id === 'number' ? this.#backward.get(answer.id) : undefined
    if (waiting === undefined) return
    this.#backward.delete(answer.id as number)
    waiting.upstream.receive({ ...answer, id: waiting.id })
  }

  #clientNotification(notification: JsonRpcNotification): void {
    const { method, params } = notification
    if (method === 'notifications/cancelled') this.#clientCancels(notification)
    else if (method === 'notifications/progress') {
      const asked = this.#backward.get(params?.progressToken as number)
      if (asked?.token !== undefined)
        asked.upstream.receive({ ...notification, params: { ...params, progressToken: asked.token } })
    } else for (const upstream of this.#all) upstream.receive(notification)
  }

  #clientCancels(notification: JsonRpcNotification): void {
    const id = notification.params?.requestId
    const parts = isRequestId(id) ? this.#open.get(id) : undefined
    if (parts === undefined) return
    this.#open.delete(id as RequestId)
    for (const part of parts) {
      const upstream = this.#forward.get(part)?.upstream
      this.#forward.delete(part)
      upstream?.receive({ ...notification, params: { ...notification.params, requestId: part } })
    }
  }

  #fromUpstream(upstream: Upstream, message: JsonRpcMessage, related?: number): void {
    const relatedId = related === undefined ? undefined : this.#forward.get(related)?.id
    if (isAnswer(message)) {
      const waiting = typeof message.id === 'number' ? this.#forward.get(message.id) : undefined
      if (waiting?.upstream !== upstream) return
      this.#forward.delete(message.id as number)
      waiting.settle(message)
    } else if ('id' in message) this.#up(upstream, message, relatedId)
    else this.#upstreamNotification(upstream, message, relatedId)
  }

  #up(upstream: Upstream, request: JsonRpcRequest, related?: RequestId): void {
    this.#lastBackward += 1
    const id = this.#lastBackward
    const token = progressTokenOf(request.params)
    this.#backward.set(id, { upstream, id: request.id, token })
    const params = token === undefined ? request.params : withProgressToken(request.params, id)
    this.#options.send(params === undefined ? { ...request, id } : { ...request, id, params }, related)
  }

  #upstreamNotification(upstream: Upstream, notification: JsonRpcNotification, related?: RequestId): void {
    const { method, params } = notification
    if (method === 'notifications/progress') {
      const call = this.#forward.get(params?.progressToken as number)
      if (call?.upstream !== upstream || call.token === undefined) return
      this.#options.send({ ...notification, params: { ...params, progressToken: call.token } }, call.id)
    } else if (method === 'notifications/cancelled') {
      const found = [...this.#backward].find(([, asked]) => asked.upstream === upstream && asked.id === params?.requestId)
      if (found === undefined) return
      this.#backward.delete(found[0])
      this.#options.send({ ...notification, params: { ...params, requestId: found[0] } }, related)
    } else this.#options.send(notification, related)
  }
}

function failure(error: unknown): JsonRpcAnswer {
  return errorAnswer(null, INTERNAL_ERROR, error instanceof Error ? error.message : String(error))
}
