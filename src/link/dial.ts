import type { Duplex } from 'node:stream'

/** One stream to a gateway that is running, or was started for it. */
export interface Dialled {
  stream: Duplex
  /** The dialer believes the stream to carry all byte values. */
  clean: boolean
}

/** Opens a new stream; called once for each attach. */
export type Dial = (signal: AbortSignal) => Promise<Dialled>
