import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type HttpServer, LOADER, type ServerOptions, startHttp } from './server.ts'
import type { World } from './world.ts'

export type TransportName = 'stdio' | 'http'

export interface CallOptions {
  signal?: AbortSignal
  onProgress?: (message: string) => void
  timeout?: number
}

/** A real SDK client on the built product, with the few shorthands that tests need. */
export interface TestClient {
  readonly client: Client
  /** The server's process. */
  readonly pid: number
  readonly stderr: () => string
  /** Set over HTTP. */
  readonly http?: HttpServer
  /** Calls a tool and gives the whole result. */
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>
  /** Calls a tool and gives its text; fails the test when the result is an error. */
  text(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<string>
  /** Calls a tool that must fail, and gives the text of the failure. */
  failure(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<string>
  close(): Promise<void>
}

export interface ConnectOptions extends ServerOptions {
  client?: ClientOptions
  /** Gives the client what it answers a server with, before it connects. */
  prepare?: (client: Client) => void
  /** Joins this server instead of starting one (HTTP). */
  server?: HttpServer
  headers?: Record<string, string>
}

/** All text of a result, joined. */
export function textOf(result: CallToolResult): string {
  return result.content.map(part => (part.type === 'text' ? part.text : '')).join('\n')
}

function shorthands(client: Client): Pick<TestClient, 'call' | 'text' | 'failure'> {
  const call: TestClient['call'] = async (name, args = {}, { signal, onProgress, timeout = 55_000 } = {}) => {
    const onprogress = onProgress && ((progress: { message?: string | undefined }) => onProgress(progress.message ?? ''))
    const options = { timeout, ...(signal && { signal }), ...(onprogress && { onprogress }) }
    return (await client.callTool({ name, arguments: args }, undefined, options)) as CallToolResult
  }
  return {
    call,
    async text(name, args, options) {
      const result = await call(name, args, options)
      if (result.isError) throw new Error(`${name} failed: ${textOf(result)}`)
      return textOf(result)
    },
    async failure(name, args, options) {
      const result = await call(name, args, options).catch(error => error as Error)
      if (result instanceof Error) return result.message
      if (!result.isError) throw new Error(`${name} should have failed, but answered: ${textOf(result)}`)
      return textOf(result)
    },
  }
}

/** Starts (or joins) a server and connects an SDK client to it over `transport`. The world ends both. */
export async function connect(world: World, transport: TransportName, options: ConnectOptions = {}): Promise<TestClient> {
  const client = new Client({ name: 'atelier-tests', version: '1' }, options.client)
  options.prepare?.(client)
  const joined = transport === 'stdio' ? await joinStdio(world, client, options) : await joinHttp(world, client, options)
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= client.close()
    return closed
  }
  world.onDispose(close)
  return { client, ...joined, ...shorthands(client), close }
}

async function joinStdio(world: World, client: Client, { args = [], env = {}, cwd = world.project }: ConnectOptions) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LOADER, '--directory', world.project, ...args],
    env: { ...world.env, ...env },
    cwd,
    stderr: 'pipe',
  })
  let stderr = ''
  transport.stderr?.on('data', chunk => (stderr += chunk))
  await client.connect(transport)
  return { pid: transport.pid ?? -1, stderr: () => stderr }
}

async function joinHttp(world: World, client: Client, options: ConnectOptions) {
  const http = options.server ?? (await startHttp(world, options))
  const headers = { Authorization: `Bearer ${http.token}`, ...options.headers }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(http.url), { requestInit: { headers } }) as Parameters<Client['connect']>[0],
  )
  return { pid: http.pid, stderr: http.stderr, http }
}
