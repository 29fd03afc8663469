import { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { CallContext, Handlers, LinkPort } from '../dispatch.ts'
import { statPath } from '../files/directory.ts'
import { type Location, locate } from '../files/locate.ts'
import { missing } from '../files/near-names.ts'
import type { Notifications, WatchParams, WatchResult } from '../protocol.ts'
import { FolderEvents, type FolderEventsOptions } from './folder-events.ts'
import { WatchedPath } from './watched-path.ts'

export interface WatchServiceOptions {
  workdir: string
  /** Directory that no watch may leave. */
  confine?: string | undefined
  link(id: string): LinkPort | undefined
  log: Logger
  folders?: FolderEventsOptions
  /** Between two looks at what sends no events; absent: a second. */
  pollMs?: number
}

/** The watches of a gateway. */
export interface WatchService {
  handlers: Pick<Handlers, 'watch.start' | 'watch.stop'>
  /** Some link is gone for good: its watches end. */
  leaveGone(): void
  /** Ends all. */
  end(): void
}

const POLL_MS = 1_000
/** Every so many looks at the polled paths, all others are looked at too: an event may have been lost. */
const ALL_EVERY = 10
const MAX_WATCHES = 4_096
/** Reports that a link has not taken are not added to beyond this. */
const MAX_BACKLOG = 256 * 1024

/** Makes the service; it has no timer and watches nothing before the first call. */
export function createWatchService(options: WatchServiceOptions): WatchService {
  return new Service(options)
}

interface Entry {
  link: string
  watched: WatchedPath
}

class Service implements WatchService {
  readonly #options: WatchServiceOptions
  readonly #events: FolderEvents
  readonly #entries = new Map<string, Entry>()
  #timer: NodeJS.Timeout | undefined
  #round = 0
  #looking = false

  constructor(options: WatchServiceOptions) {
    this.#options = options
    this.#events = new FolderEvents(options.folders)
  }

  readonly handlers: WatchService['handlers'] = {
    'watch.start': (params, context) => this.#start(params, context),
    'watch.stop': async ({ watch }, { link }) => {
      this.#end(keyOf(link.id, watch))
      return {}
    },
  }

  leaveGone(): void {
    for (const [key, { link }] of [...this.#entries]) if (this.#options.link(link) === undefined) this.#end(key)
  }

  end(): void {
    for (const key of [...this.#entries.keys()]) this.#end(key)
    this.#events.close()
  }

  async #start(params: WatchParams, { link }: CallContext): Promise<WatchResult> {
    const location = await this.#find(params, link.env.HOME)
    const { type } = await statPath(location)
    const { path } = location
    if (type === 'missing') throw await missing(path)
    if (type !== 'file' && type !== 'directory') throw new WorkspaceError('unsupported', `${path} is a ${type}: not watched.`)
    const key = keyOf(link.id, params.watch)
    this.#end(key)
    if (this.#entries.size >= MAX_WATCHES) throw new WorkspaceError('limit_exceeded', `${MAX_WATCHES} paths are watched already.`)
    const { watch } = params
    const watched = new WatchedPath({
      ...{ path, directory: type === 'directory', events: this.#events },
      report: () => this.#tell(link.id, 'watch.changed', { watch }),
      polled: why => this.#tell(link.id, 'watch.polled', { watch, notice: noticeOf(path, why) }),
    })
    this.#entries.set(key, { link: link.id, watched })
    await watched.start()
    this.#timer ??= setInterval(() => void this.#lookAround(), this.#options.pollMs ?? POLL_MS).unref()
    const why = watched.polledFor
    return {
      ...{ path, type, mode: why === undefined ? 'events' : 'polling' },
      notices: why === undefined ? [] : [noticeOf(path, why)],
    }
  }

  async #find(params: WatchParams, home: string | undefined): Promise<Location> {
    const { workdir, confine } = this.#options
    await locate(params.path, { workdir, home, confine })
    return locate(params.path, { workdir, home, confine: params.confine ?? confine })
  }

  #tell<N extends 'watch.changed' | 'watch.polled'>(id: string, name: N, news: Notifications[N]): boolean {
    const link = this.#options.link(id)
    if (link === undefined || !link.attached || link.backlog > MAX_BACKLOG) return false
    link.tell(name, news)
    return true
  }

  async #lookAround(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    this.#round += 1
    const all = this.#round % ALL_EVERY === 0
    for (const { watched } of [...this.#entries.values()]) {
      if (!all && watched.polledFor === undefined) continue
      await watched.look()
      if (all) await watched.renew()
    }
    this.#looking = false
  }

  #end(key: string): void {
    this.#entries.get(key)?.watched.end()
    this.#entries.delete(key)
    if (this.#entries.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function noticeOf(path: string, why: string): string {
  return `${path} is looked at every second instead of being watched: ${why}.`
}

function keyOf(link: string, watch: string): string {
  return `${link} ${watch}`
}
