import type { JsonRpcMessage, RequestId } from '../mcp/message.ts'

/** A connection to a workspace in this process, in the shape of the MCP SDK's `Transport`: hand it to `Client.connect()`. */
export interface WorkspaceTransport {
  start(): Promise<void>
  /** Takes a JSON-RPC message; rejects once the connection is closed. */
  send(message: object): Promise<void>
  close(): Promise<void>
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own message types can't be named here
  onmessage?: ((message: any) => void) | undefined
}

/** What a transport needs of the session that serves it; named here, so that no other types reach programs through this file. */
interface Served {
  receive(message: JsonRpcMessage): void
  close(): Promise<void>
}

/** Opens the session that serves a transport. */
export type OpenSession = (send: (message: JsonRpcMessage, related?: RequestId) => void) => Served

/**
 * A transport served by a session of its own. Messages are copied as they would travel on a wire; those that come before
 * `start` wait for it. Closing ends what the session has running.
 */
export function createTransport(
  open: OpenSession,
  onClosed: (transport: WorkspaceTransport) => void = () => {},
): WorkspaceTransport {
  const waiting: JsonRpcMessage[] = []
  let started = false
  let closing: Promise<void> | undefined
  const deliver = (message: JsonRpcMessage) => {
    if (started) transport.onmessage?.(message)
    else waiting.push(message)
  }
  // Never within the caller's own `send`: it may not have noted yet what it waits for.
  const session = open(message => queueMicrotask(() => deliver(copy(message))))
  const end = async () => {
    await session.close()
    onClosed(transport)
    transport.onclose?.()
  }
  const transport: WorkspaceTransport = {
    async start() {
      started = true
      for (const message of waiting.splice(0)) transport.onmessage?.(message)
    },
    async send(message) {
      if (closing !== undefined) throw new Error('The connection to the workspace is closed.')
      session.receive(copy(message as JsonRpcMessage))
    },
    close() {
      closing ??= end()
      return closing
    },
  }
  return transport
}

function copy<T>(message: T): T {
  return JSON.parse(JSON.stringify(message))
}
