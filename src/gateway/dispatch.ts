import type { Method, Notification, Notifications, Params, Result } from './protocol.ts'

/** What a handler knows of the link that its request came from. */
export interface LinkContext {
  readonly id: string
  readonly owner: string
  /** Initial environment of this link's commands. */
  readonly env: Readonly<Record<string, string>>
}

/** What a handler gets beside its parameters. */
export interface CallContext {
  readonly link: LinkContext
  /** Aborts when the host cancels the call. A link that merely drops does not abort: see `onDetach`. */
  readonly signal: AbortSignal
  /** Whether the host is there at the moment. */
  attached(): boolean
  /** Bytes that may be sent now without waiting for credit. */
  sendable(): number
  /** Sends a chunk of this call's stream; resolves when credit allows the next one. */
  send(chunk: Uint8Array): Promise<void>
  /** The caller's input stream (for `file.put`). */
  readonly input: AsyncIterable<Uint8Array>
  /** Called once when the link was lost for good or said goodbye: nobody waits for the answer any more. */
  onDetach(listener: (reason: 'lost' | 'goodbye') => void): void
}

export type Handler<M extends Method> = (params: Params<M>, context: CallContext) => Promise<Result<M>>
export type Handlers = { [M in Method]: Handler<M> }

/** Sends news to every open link. */
export type Notify = <N extends Notification>(name: N, params: Notifications[N]) => void

/** A link as a service sees it that has news for it alone. */
export interface LinkPort {
  /** Whether a host is there at the moment. */
  readonly attached: boolean
  /** Bytes that it has not taken yet. */
  readonly backlog: number
  /** Sends news in order; nothing of it is dropped. Throws `too_large`. */
  tell<N extends Notification>(name: N, params: Notifications[N]): void
}
