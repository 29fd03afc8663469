import { dirname } from 'node:path'
import { realPath } from '../files/locate.ts'
import type { FolderEvents } from './folder-events.ts'
import { isSameThing, isThere, markOf } from './mark.ts'

/** Events of one change come together: it is looked at once they are over. */
const SETTLE_MS = 100
/** Between two reports of what changes all the time, as a log does. */
const REPORT_MS = 500

export interface WatchedPathOptions {
  path: string
  directory: boolean
  events: FolderEvents
  /** Says that the path changed; `false`: it could not be said now, and is tried again. */
  report(): boolean
  /** Says that events come no more, which `start` did not say; the same. */
  polled(why: string): boolean
}

/** One path that is watched: events only make it look sooner, what it sees decides. */
export class WatchedPath {
  readonly #options: WatchedPathOptions
  #mark = ''
  #offs: (() => void)[] = []
  #why: string | undefined = 'it has not been watched yet'
  /** The refusal that was told of. */
  #toldWhy: string | undefined
  #timer: NodeJS.Timeout | undefined
  #reported = Number.NEGATIVE_INFINITY
  #ended = false

  constructor(options: WatchedPathOptions) {
    this.#options = options
  }

  /** Why no events come; undefined where they do. */
  get polledFor(): string | undefined {
    return this.#why
  }

  async start(): Promise<void> {
    await this.#arm()
    this.#toldWhy = this.#why
    this.#mark = await markOf(this.#options.path)
  }

  /** Looks whether the path changed, and listens anew where what was watched has gone or been replaced. */
  async look(): Promise<void> {
    const mark = await markOf(this.#options.path)
    if (this.#ended || mark === this.#mark) return
    const another = !isSameThing(mark, this.#mark)
    if (performance.now() - this.#reported < REPORT_MS || !this.#options.report()) return this.#soon(REPORT_MS)
    this.#mark = mark
    this.#reported = performance.now()
    if (!isThere(mark)) this.#disarm('what is watched is not there')
    else if (another) {
      await this.#rearm()
      // what happened before the new watch was there sent no event
      this.#soon(SETTLE_MS)
    }
  }

  /** Watches the folders again: one that was replaced by another of its name sends no events any more. */
  async renew(): Promise<void> {
    if (isThere(this.#mark)) await this.#rearm()
  }

  end(): void {
    this.#ended = true
    clearTimeout(this.#timer)
    this.#disarm('it has ended')
  }

  async #rearm(): Promise<void> {
    await this.#arm()
    const why = this.#why
    if (this.#ended || why === this.#toldWhy) return
    if (why === undefined || this.#options.polled(why)) this.#toldWhy = why
  }

  async #arm(): Promise<void> {
    const { path, directory, events } = this.#options
    const real = await realPath(path).catch(() => path)
    const heard = (): void => this.#soon(SETTLE_MS)
    const folders = new Set(directory ? [real] : [dirname(path), dirname(real)])
    const watches = await Promise.all([...folders].map(folder => events.add(folder, heard)))
    const offs = watches.flatMap(watch => ('off' in watch ? [watch.off] : []))
    const refused = watches.find(watch => 'why' in watch)
    this.#disarm(refused?.why)
    if (this.#ended) for (const off of offs) off()
    else this.#offs = offs
  }

  #disarm(why: string | undefined): void {
    for (const off of this.#offs.splice(0)) off()
    this.#why = why
  }

  #soon(ms: number): void {
    if (this.#ended || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      // A path that can't be looked at has a mark of its own; nothing is thrown.
      void this.look()
    }, ms).unref()
  }
}
