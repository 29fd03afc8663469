import type { Method, Notification, Notifications, OpenResult, Params, Result } from '../gateway/protocol.ts'

/** Options of one call. */
export interface CallOptions {
  signal?: AbortSignal | undefined
  /** The call's stream, in order; the next credit is granted when the returned promise resolves. */
  onChunk?: ((chunk: Uint8Array) => void | Promise<void>) | undefined
  /** The call's input stream (`file.put`). */
  input?: AsyncIterable<Uint8Array> | undefined
  /** Calls with this go in the order of sending, whatever their size. */
  ordered?: boolean | undefined
}

export type LinkState = 'connecting' | 'open' | 'reconnecting' | 'closed'

/** News of a link that the layer above wants to hear. */
export interface LinkEvents {
  state?(state: LinkState): void
  /** A gateway welcomed this link for the first time: from now on it may be doing what it was sent. */
  reached?(instance: string): void
  /** A gateway with another instance id answered: what ran in the old one is lost. */
  replaced?(was: string, now: string): void
  /** The same gateway had forgotten this link: what was under way between the two is lost. */
  renewed?(): void
  notification?<N extends Notification>(name: N, params: Notifications[N]): void
}

/**
 * A caller's view of one gateway. Calls made before the link is open wait for it; a call in flight survives a cut stream,
 * and fails with `environment_lost` when the gateway behind it was replaced or can't be reached within the reconnect limit.
 */
export interface GatewayClient extends AsyncDisposable {
  readonly state: LinkState
  /** What the gateway said of itself; waits for the link. */
  opened(): Promise<OpenResult>
  call<M extends Method>(method: M, params: Params<M>, options?: CallOptions): Promise<Result<M>>
  /**
   * Goodbye. `end`: this link's jobs end now; `detach`: all goes on without it. Gives how many other hosts the gateway had at
   * that moment, 0 where it did not say. Idempotent.
   */
  close(mode: 'end' | 'detach'): Promise<number>
}
