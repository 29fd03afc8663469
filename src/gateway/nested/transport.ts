import type { NestedMessage } from '../protocol-nested.ts'
import type { Overlong } from './read-messages.ts'

/** Longest message of a nested server, in bytes; a longer one is refused. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024

/** How a connection to a server ended. */
export interface TransportEnd {
  reason: string
  exitCode?: number
  signal?: string
  /** The other end does not speak this transport: another kind may do. */
  wrongKind?: boolean
}

/** What a transport tells. */
export interface TransportEvents {
  /** A message of the server; `related`: id of our request that it came with, where the transport tells. */
  message(message: NestedMessage, related?: number): void
  /** A message over the bound was refused. */
  refused(bytes: number, message: Overlong): void
  /** Something for people: lines of stderr, noise on stdout, faults of the network. */
  noise(text: string): void
  /** Once; nothing comes after it. */
  closed(end: TransportEnd): void
}

/** A connection to one server. */
export interface NestedTransport {
  readonly pid?: number | undefined
  /** Sends without waiting; what can't be sent of a request is answered by an error message. Throws `limit_exceeded`. */
  send(message: NestedMessage): void
  /** Stops reading the server's messages until `resume`. */
  pause(): void
  resume(): void
  /** Ends the connection, and all processes behind it. `closed` follows. Idempotent. */
  close(): Promise<void>
}
