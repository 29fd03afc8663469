import type { Notification, Notifications } from '../gateway/protocol.ts'
import type { LinkEvents } from '../link/gateway-client.ts'

/** Hears what a gateway tells by itself. */
export interface GatewayListener {
  notification<N extends Notification>(name: N, params: Notifications[N]): void
  /** What was under way in the gateway, or on the way from it, is lost. */
  lost(): void
}

/** Passes the news of whichever gateway a workspace has at the moment to all that listen. */
export class GatewayNews {
  readonly #listeners = new Set<GatewayListener>()

  /** Gives back what ends the listening. */
  listen(listener: GatewayListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  lost(): void {
    for (const listener of this.#listeners) listener.lost()
  }

  /** What a link is given, so that its news come here. */
  events(): Pick<LinkEvents, 'state' | 'renewed' | 'notification'> {
    return {
      state: state => {
        if (state === 'closed') this.lost()
      },
      renewed: () => this.lost(),
      notification: (name, params) => {
        for (const listener of this.#listeners) listener.notification(name, params)
      },
    }
  }
}
