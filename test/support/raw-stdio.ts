import { until } from './processes.ts'
import { onLines } from './reference-server/lines.mjs'
import { type RunningServer, type ServerOptions, startAtelier } from './server.ts'
import type { World } from './world.ts'

export interface RpcMessage {
  id?: number | string | null
  method?: string
  params?: unknown
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: unknown }
}

/** A stdio server spoken to line by line, for what the SDK's client would never send or would hide. */
export interface RawStdio extends RunningServer {
  /** Every line that came, parsed; a line that is no JSON stands in `garbage`. */
  readonly messages: RpcMessage[]
  readonly garbage: string[]
  send(message: RpcMessage): void
  sendText(text: string): void
  /** The answer to `id`. */
  answer(id: RpcMessage['id'], ms?: number): Promise<RpcMessage>
  initialize(protocolVersion?: string): Promise<RpcMessage>
}

/** Starts `atelier` on stdio without any client library. */
export function rawStdio(world: World, options: ServerOptions = {}): RawStdio {
  const server = startAtelier(world, options)
  const messages: RpcMessage[] = []
  const garbage: string[] = []
  onLines(server.child.stdout ?? process.stdin, line => {
    try {
      messages.push(JSON.parse(line) as RpcMessage)
    } catch {
      garbage.push(line)
    }
  })
  const sendText = (text: string) => void server.child.stdin?.write(text)
  const send = (message: RpcMessage) => sendText(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const find = (id: RpcMessage['id']) => messages.find(message => message.id === id && message.method === undefined)
  const answer = async (id: RpcMessage['id'], ms = 20_000) => {
    await until(() => find(id) !== undefined, `an answer to ${JSON.stringify(id)}`, ms)
    return find(id) ?? {}
  }
  return {
    ...server,
    messages,
    garbage,
    send,
    sendText,
    answer,
    async initialize(protocolVersion = '2025-11-25') {
      send({
        id: 'init',
        method: 'initialize',
        params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
      })
      const first = await answer('init')
      send({ method: 'notifications/initialized' })
      return first
    },
  }
}
