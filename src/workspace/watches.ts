import type { WatchChangedNews, WatchPolledNews } from '../gateway/protocol.ts'
import { toWorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { type Confinement, confineTo } from './confinement.ts'
import type { GatewayCalls } from './environment-link.ts'
import type { GatewayNews } from './gateway-news.ts'
import type { PortOptions } from './ports.ts'

/** Who watches a path. */
export interface Watcher {
  /** What is at the path is not what it was, or may not be. */
  changed(): void
  /** The workspace was closed, or the path can't be watched any more. */
  ended(reason: string): void
  /** From now on changes are told late, and why. */
  noticed(notice: string): void
}

/** Who watches the jobs of a workspace. */
export type JobWatcher = Pick<Watcher, 'changed' | 'ended'>

export interface Watch {
  /** Why changes are told late. */
  notices: string[]
  /** Ends it; `ended` is not called. Idempotent. */
  end(): void
}

/** Watches files and directories of a workspace. A watch keeps no workspace open. */
export interface Watches {
  /** Throws `not_found` where there is nothing at the path. */
  start(path: string, watcher: Watcher, options?: PortOptions): Promise<Watch>
  /** Tells when a job begins or ends. */
  startOnJobs(watcher: JobWatcher): Watch
  /** Begins again what was lost with a gateway; what is watched may have changed meanwhile. */
  renew(): void
}

export interface WatchesOptions {
  /** The gateway can be called without starting one. */
  connected(): boolean
  place: Confinement
  logger: Logger
}

/** Makes the watches of one workspace; `dispose` ends them, and tells their watchers. */
export function createWatches(gateway: GatewayCalls, news: GatewayNews, options: WatchesOptions): Watches & { dispose(): void } {
  return new WorkspaceWatches(gateway, news, options)
}

const CLOSED = 'the workspace was closed'

interface Entry {
  id: string
  path: string
  watcher: Watcher
}

class WorkspaceWatches implements Watches {
  readonly #gateway: GatewayCalls
  readonly #options: WatchesOptions
  readonly #entries = new Map<string, Entry>()
  readonly #stale = new Set<Entry>()
  readonly #onJobs = new Set<JobWatcher>()
  readonly #stop: () => void
  #jobsLost = false
  #last = 0

  constructor(gateway: GatewayCalls, news: GatewayNews, options: WatchesOptions) {
    this.#gateway = gateway
    this.#options = options
    this.#stop = news.listen({
      notification: (name, params) => {
        if (name === 'watch.changed') this.#watcher(params as WatchChangedNews)?.changed()
        if (name === 'watch.polled') this.#watcher(params as WatchPolledNews)?.noticed((params as WatchPolledNews).notice)
        if (name === 'job.changed') this.#jobsChanged()
      },
      lost: () => this.#lost(),
    })
  }

  async start(path: string, watcher: Watcher, options: PortOptions = {}): Promise<Watch> {
    this.#last += 1
    const entry = { id: `w${this.#last}`, path, watcher }
    this.#entries.set(entry.id, entry)
    try {
      const { notices } = await this.#begin(entry, options)
      return { notices, end: () => this.#end(entry) }
    } catch (error) {
      this.#entries.delete(entry.id)
      this.#stale.delete(entry)
      throw error
    }
  }

  startOnJobs(watcher: JobWatcher): Watch {
    this.#onJobs.add(watcher)
    return { notices: [], end: () => void this.#onJobs.delete(watcher) }
  }

  renew(): void {
    if (this.#jobsLost) this.#jobsChanged()
    for (const entry of [...this.#stale]) {
      this.#stale.delete(entry)
      this.#begin(entry).then(
        ({ notices }) => {
          for (const notice of notices) entry.watcher.noticed(notice)
          entry.watcher.changed()
        },
        thrown => {
          const { code, message } = toWorkspaceError(thrown)
          if (code === 'environment_lost' && this.#entries.has(entry.id)) this.#stale.add(entry)
          else this.#give(entry, message)
        },
      )
    }
  }

  dispose(): void {
    this.#stop()
    for (const entry of [...this.#entries.values()]) this.#give(entry, CLOSED)
    for (const watcher of [...this.#onJobs]) watcher.ended(CLOSED)
    this.#onJobs.clear()
  }

  #watcher({ watch }: { watch: string }): Watcher | undefined {
    return this.#entries.get(watch)?.watcher
  }

  #jobsChanged(): void {
    this.#jobsLost = false
    for (const watcher of this.#onJobs) watcher.changed()
  }

  #begin({ id, path }: Entry, options: PortOptions = {}) {
    const confine = confineTo(path, this.#options.place, 'read')
    return this.#gateway.call('watch.start', { path, watch: id, ...confine }, options)
  }

  #end(entry: Entry): void {
    const known = this.#entries.delete(entry.id)
    if (this.#stale.delete(entry) || !known || !this.#options.connected()) return
    this.#gateway
      .call('watch.stop', { watch: entry.id })
      .catch(error => this.#options.logger.debug({ reason: toWorkspaceError(error).message }, 'a watch was not stopped'))
  }

  #give(entry: Entry, reason: string): void {
    this.#stale.delete(entry)
    if (this.#entries.delete(entry.id)) entry.watcher.ended(reason)
  }

  /** A gateway that was replaced, or forgot us, is there to be asked again; for one that is gone nothing is started. */
  #lost(): void {
    for (const entry of this.#entries.values()) this.#stale.add(entry)
    this.#jobsLost = true
    setImmediate(() => {
      if (this.#options.connected()) this.renew()
    })
  }
}
