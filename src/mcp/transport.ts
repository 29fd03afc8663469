import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { isJSONRPCNotification, isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { JsonRpcMessage } from './message.ts'
import type { Emit } from './relay.ts'
import { errorAnswer, INVALID_PARAMS } from './shape.ts'

/** The SDK's end of a wire inside this process: what the server sends is emitted at once, in order. */
export class InProcessTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #emit: Emit

  constructor(emit: Emit) {
    this.#emit = emit
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: { relatedRequestId?: string | number }): Promise<void> {
    this.#emit(message as JsonRpcMessage, options?.relatedRequestId as number | undefined)
  }

  async close(): Promise<void> {
    this.onclose?.()
  }

  /** Hands a message to the server; a request that the SDK would drop in silence is answered. */
  deliver(message: JsonRpcMessage): void {
    if (!('method' in message)) return
    if ('id' in message) {
      const { jsonrpc, id, method, params } = message
      const plain = params === undefined ? { jsonrpc, id, method } : { jsonrpc, id, method, params }
      if (isJSONRPCRequest(plain)) this.onmessage?.(plain)
      else
        this.#emit(
          errorAnswer(
            id,
            INVALID_PARAMS,
            `The parameters of ${method} are malformed: "_meta" must be an object of the standard's shape.`,
          ),
        )
    } else if (isJSONRPCNotification(message)) this.onmessage?.(message)
  }
}
