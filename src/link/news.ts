import type { JobInfo, Notification } from '../gateway/protocol.ts'
import { toWorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { LinkEvents, LinkState } from './gateway-client.ts'

/** Whether news have the outline that their readers count on. */
const SOUND: Record<Notification, (params: Record<string, unknown>) => boolean> = {
  'job.changed'({ job }) {
    const { id, status } = (job ?? {}) as Partial<JobInfo>
    return typeof id === 'string' && typeof status === 'string'
  },
  'nested.message': ({ server, message }) => typeof server === 'string' && typeof message === 'object' && message !== null,
  'nested.exited': ({ server, reason, stderrTail }) => [server, reason, stderrTail].every(text => typeof text === 'string'),
  'watch.changed': ({ watch }) => typeof watch === 'string',
  'watch.polled': ({ watch, notice }) => typeof watch === 'string' && typeof notice === 'string',
}

/** Passes news up; a listener that throws is logged and harms nothing. */
export class News {
  readonly #events: LinkEvents
  readonly #logger: Logger

  constructor(events: LinkEvents, logger: Logger) {
    this.#events = events
    this.#logger = logger
  }

  state(state: LinkState): void {
    this.#tell(() => this.#events.state?.(state))
  }

  reached(instance: string): void {
    this.#tell(() => this.#events.reached?.(instance))
  }

  replaced(was: string, now: string): void {
    this.#tell(() => this.#events.replaced?.(was, now))
  }

  renewed(): void {
    this.#tell(() => this.#events.renewed?.())
  }

  /** Unknown news and malformed ones are skipped: a newer gateway may tell more. */
  notification(method: string, params: Record<string, unknown>): void {
    const sound = Object.hasOwn(SOUND, method) && SOUND[method as Notification](params)
    if (sound) this.#tell(() => this.#events.notification?.(method as Notification, params as never))
    else this.#logger.debug({ method: method.slice(0, 40) }, 'news skipped')
  }

  #tell(listener: () => void): void {
    try {
      listener()
    } catch (error) {
      this.#logger.error({ error: toWorkspaceError(error).message }, 'a listener of the link failed')
    }
  }
}
