import { after, onAbort, throwIfAborted } from '../lib/deadline.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { JsonRpcAnswer, JsonRpcNotification, JsonRpcRequest } from './message.ts'
import { RpcError } from './method.ts'
import { isObject } from './shape.ts'

type Params = Record<string, unknown>

export interface AskOptions {
  /** Our request that it belongs to; over HTTP it chooses the stream. */
  related?: number | undefined
  signal?: AbortSignal | undefined
  /** How long the client may take, in ms. */
  limitMs: number
}

interface Asked {
  settle(answer: JsonRpcAnswer): void
  fail(error: Error): void
}

/** Atelier's own requests to the client. */
export class ClientRequests {
  readonly #send: (message: JsonRpcRequest | JsonRpcNotification, related?: number) => void
  readonly #asked = new Map<number, Asked>()
  #last = 0

  constructor(send: (message: JsonRpcRequest | JsonRpcNotification, related?: number) => void) {
    this.#send = send
  }

  /** The result; throws the client's error as an `RpcError`, `timeout`, or `cancelled`, of which the client is told. */
  async ask(method: string, params: Params, { related, signal, limitMs }: AskOptions): Promise<Params> {
    throwIfAborted(signal)
    this.#last += 1
    const id = this.#last
    const give = (code: 'timeout' | 'cancelled', why: string): void => {
      const error = new WorkspaceError(code, `${method} ${why}.`)
      this.#asked.get(id)?.fail(error)
      this.#send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: error.message } }, related)
    }
    const stop = after(limitMs, () => give('timeout', 'was not answered in time'), { unref: true })
    const off = onAbort(signal, () => give('cancelled', 'was cancelled'))
    try {
      const answer = await new Promise<JsonRpcAnswer>((settle, fail) => {
        this.#asked.set(id, { settle, fail })
        this.#send({ jsonrpc: '2.0', id, method, params }, related)
      })
      return resultOf(answer, method)
    } finally {
      this.#asked.delete(id)
      stop()
      off()
    }
  }

  answered(answer: JsonRpcAnswer): void {
    if (typeof answer.id === 'number') this.#asked.get(answer.id)?.settle(answer)
  }

  /** Nobody answers any more. */
  close(): void {
    for (const { fail } of this.#asked.values()) fail(new WorkspaceError('cancelled', 'The session has ended.'))
    this.#asked.clear()
  }
}

function resultOf({ result, error }: JsonRpcAnswer, method: string): Params {
  if (error !== undefined) throw new RpcError(error.code, String(error.message), error.data)
  if (isObject(result)) return result
  throw new WorkspaceError('protocol', `The client answered ${method} with no object.`)
}
