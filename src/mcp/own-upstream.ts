import type { Logger } from '../lib/log.ts'
import type { JsonRpcAnswer, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from './message.ts'
import { type MethodHandler, type QuickMethod, RpcError } from './method.ts'
import type { Emit, Upstream } from './relay.ts'
import { errorAnswer, INTERNAL_ERROR } from './shape.ts'
import type { InProcessTransport } from './transport.ts'

export interface OwnUpstreamOptions {
  methods: ReadonlyMap<string, MethodHandler>
  quick: ReadonlyMap<string, QuickMethod>
  logger: Logger
  /** Takes the client's answers to our own requests. */
  answered?(answer: JsonRpcAnswer): void
}

export interface OwnUpstream extends Upstream {
  /** Sends a notification or a request of our own to the client. */
  notify(message: JsonRpcNotification | JsonRpcRequest, related?: number): void
  /** Makes the server ahead of the first request that needs it. */
  prepare(): Promise<void>
}

/** Our own server as the router sees it. The SDK is loaded, and the server made, by the first request that needs them. */
export function createOwnUpstream({ methods, quick, logger, answered }: OwnUpstreamOptions): OwnUpstream {
  let emit: Emit = () => {}
  let transport: InProcessTransport | undefined
  let starting: Promise<void> | undefined
  let waiting: JsonRpcMessage[] = []
  let closed = false

  const start = async (): Promise<void> => {
    const { createOwnServer } = await import('./own-server.ts')
    const made = await createOwnServer({ methods, emit: (message, related) => emit(message, related), logger })
    if (closed) return made.close()
    transport = made
    for (const message of waiting) made.deliver(message)
    waiting = []
  }
  const failed = (error: unknown): void => {
    logger.error({ error: String(error) }, 'The MCP server could not be started')
    for (const message of waiting) if ('method' in message && 'id' in message) emit(failure(message.id, error))
    waiting = []
    starting = undefined
  }
  const quickly = (id: string | number, call: Promise<Record<string, unknown>>): void => {
    call.then(
      result => emit({ jsonrpc: '2.0', id, result }),
      error => emit(failure(id, error)),
    )
  }

  return {
    name: 'atelier',
    owns: () => true,
    lists: () => true,
    connect(send) {
      emit = send
    },
    notify: (message, related) => emit(message, related),
    async prepare() {
      if (closed || transport !== undefined) return
      starting ??= start().catch(failed)
      await starting
    },
    receive(message) {
      if (closed) return
      if (!('method' in message)) return answered?.(message)
      const answer = 'id' in message ? quick.get(message.method) : undefined
      if (answer !== undefined && 'id' in message) return quickly(message.id, answer(message.params ?? {}))
      if (transport !== undefined) return transport.deliver(message)
      if (starting === undefined && !('id' in message)) return
      waiting.push(message)
      starting ??= start().catch(failed)
    },
    async close() {
      closed = true
      waiting = []
      await transport?.close()
    },
  }
}

function failure(id: string | number, error: unknown) {
  if (error instanceof RpcError) return errorAnswer(id, error.code, error.message, error.data)
  return errorAnswer(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error))
}
