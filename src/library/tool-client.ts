import { onAbort } from '../lib/deadline.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { JsonRpcAnswer, JsonRpcMessage } from '../mcp/message.ts'
import type { WorkspaceTransport } from './transport.ts'

/** Content of an answer beside its text, as MCP has it: images, audio, links. */
export type ToolContent = { type: string } & Record<string, unknown>

export interface ToolResult {
  /** The whole answer, for a model to read. */
  text: string
  isError: boolean
  structured: Record<string, unknown> | undefined
  content: ToolContent[]
}

export interface ToolCallOptions {
  /** Aborting cancels the call and ends what it runs. */
  signal?: AbortSignal
  /** Output while the tool runs. */
  onProgress?: (text: string) => void
}

/** One tool of a workspace. What goes wrong in it is an answer with `isError`; `call` rejects only when there is no answer. */
export interface WorkspaceTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly inputSchema: Record<string, unknown>
  call(args?: Record<string, unknown>, options?: ToolCallOptions): Promise<ToolResult>
}

interface Waiting {
  resolve(result: Record<string, unknown>): void
  reject(error: Error): void
  onProgress: ((text: string) => void) | undefined
}

const PROTOCOL = '2025-11-25'
const NO_SUCH_METHOD = -32601

/** The tools of a workspace as plain functions, by way of MCP: programs and models see the same. */
export class ToolClient {
  readonly #transport: WorkspaceTransport
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  private constructor(transport: WorkspaceTransport) {
    this.#transport = transport
    transport.onmessage = (message: JsonRpcMessage) => this.#receive(message)
    transport.onclose = () => this.#end()
  }

  /** Starts the conversation. The client owns the transport and closes it. */
  static async open(transport: WorkspaceTransport): Promise<ToolClient> {
    const client = new ToolClient(transport)
    await transport.start()
    await client.#request('initialize', {
      protocolVersion: PROTOCOL,
      capabilities: {},
      clientInfo: { name: 'atelier', version: '1' },
    })
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return client
  }

  async list(): Promise<WorkspaceTool[]> {
    const tools: WorkspaceTool[] = []
    let cursor: unknown
    do {
      const page = await this.#request('tools/list', cursor === undefined ? {} : { cursor })
      for (const { name, description, inputSchema } of page.tools as WorkspaceTool[]) {
        tools.push({ name, description, inputSchema, call: (args, options) => this.#call(name, args, options) })
      }
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return tools
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  async #call(name: string, args: Record<string, unknown> = {}, options: ToolCallOptions = {}): Promise<ToolResult> {
    const params = { name, arguments: args, _meta: { 'atelier/structured': true } }
    const { content = [], structuredContent, isError } = await this.#request('tools/call', params, options)
    const blocks = content as ToolContent[]
    const text = blocks.filter(block => block.type === 'text').map(block => block.text)
    return {
      text: text.join('\n'),
      isError: isError === true,
      structured: structuredContent as ToolResult['structured'],
      content: blocks.filter(block => block.type !== 'text'),
    }
  }

  #request(
    method: string,
    params: Record<string, unknown>,
    { signal, onProgress }: ToolCallOptions = {},
  ): Promise<Record<string, unknown>> {
    const id = ++this.#lastId
    const withToken =
      onProgress === undefined ? params : { ...params, _meta: { ...(params._meta as object | undefined), progressToken: id } }
    return new Promise((resolve, reject) => {
      let off = () => {}
      const settle =
        <T>(how: (value: T) => void) =>
        (value: T) => {
          off()
          this.#waiting.delete(id)
          how(value)
        }
      const fail = settle(reject)
      this.#waiting.set(id, { resolve: settle(resolve), reject: fail, onProgress })
      if (signal?.aborted) {
        fail(new WorkspaceError('cancelled', `${method} was cancelled before it began.`))
        return
      }
      off = onAbort(signal, reason => {
        this.#transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }).catch(fail)
        fail(reason)
      })
      this.#transport.send({ jsonrpc: '2.0', id, method, params: withToken }).catch(fail)
    })
  }

  #receive(message: JsonRpcMessage): void {
    if (!('method' in message)) this.#settle(message)
    else if (message.method === 'notifications/progress') {
      const { progressToken, message: text } = message.params ?? {}
      if (typeof text === 'string') this.#waiting.get(progressToken as number)?.onProgress?.(text)
    } else if ('id' in message) {
      const error = { code: NO_SUCH_METHOD, message: `${message.method} is not offered by this client.` }
      this.#transport.send({ jsonrpc: '2.0', id: message.id, error }).catch(() => this.#end())
    }
  }

  #settle({ id, result, error }: JsonRpcAnswer): void {
    const waiting = this.#waiting.get(id as number)
    if (error === undefined) waiting?.resolve((result ?? {}) as Record<string, unknown>)
    else waiting?.reject(new WorkspaceError('protocol', error.message, { cause: error }))
  }

  #end(): void {
    for (const waiting of this.#waiting.values()) waiting.reject(new WorkspaceError('cancelled', 'The workspace was closed.'))
  }
}
