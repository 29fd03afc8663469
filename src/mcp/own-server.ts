import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Logger } from '../lib/log.ts'
import { type MethodHandler, RpcError } from './method.ts'
import type { Emit } from './relay.ts'
import { METHOD_NOT_FOUND } from './shape.ts'
import { CAPABILITIES, SERVER_INFO } from './static.ts'
import { InProcessTransport } from './transport.ts'

export interface OwnServerOptions {
  methods: ReadonlyMap<string, MethodHandler>
  emit: Emit
  logger: Logger
}

/** Elicitation answers are not validated, so one validator without state serves every session. */
const sharedValidator = {
  getValidator(): never {
    throw new Error('JSON Schema validation is not part of this server')
  },
}

/** The SDK's low-level server over our methods, on an in-process transport; `close` aborts what is in flight. */
export async function createOwnServer(options: OwnServerOptions): Promise<InProcessTransport> {
  const server = new Server(SERVER_INFO, { capabilities: CAPABILITIES, jsonSchemaValidator: sharedValidator })
  server.removeRequestHandler('logging/setLevel')
  server.removeRequestHandler('initialize')
  server.onerror = error => options.logger.warn({ error: error.message }, 'MCP server')
  server.fallbackRequestHandler = async (request, extra) => {
    const handler = options.methods.get(request.method)
    if (handler === undefined) throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${request.method}`)
    const requestId = extra.requestId as number
    return handler((request.params ?? {}) as Record<string, unknown>, {
      signal: extra.signal,
      requestId,
      notify: (method, params) => options.emit({ jsonrpc: '2.0', method, params }, requestId),
    })
  }
  const transport = new InProcessTransport(options.emit)
  await server.connect(transport)
  return transport
}
