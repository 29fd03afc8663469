import { performance } from 'node:perf_hooks'
import type { LinkContext } from './dispatch.ts'
import type { ServerLink } from './link-server-link.ts'

/** What life needs of the commands and jobs. */
export interface LifeWork {
  /** The link's foreground commands become jobs of its owner. */
  linkLost(link: string): void
  /** The jobs of a lost link belong to another one of the same owner. */
  inherit(from: string, to: LinkContext): void
  /** Ends all that an owner, or one link alone, has running when `whose` is asked; resolves when that is done. */
  end(whose: () => { owner: string } | { link: string }): Promise<unknown>
  /** Whether anything runs that must go on. */
  busy(): boolean
}

export interface LifeOptions {
  work: LifeWork
  /** The daemon ends when it was unused for this long, in ms. */
  idleMs: number
  /** A host started this daemon and dials it at once. */
  awaitsHost?: boolean
  /** A periodic look at what the daemon stands on; `false` ends it. */
  sound(): boolean
  /** Called once: the daemon has to end. */
  end(reason: string): void
  tickMs?: number
}

/** The reason of a daemon that leaves its jobs to its successor. */
export const TAKEN_OVER = 'another daemon took over'

const TICK_MS = 500
/** How long a daemon that a host started waits for its first link, at most; that host may be gone already. */
const FIRST_LINK_MS = 5_000

/**
 * Decides how long the daemon and an owner's work live: goodbyes, grace after a drop, the end of an unused daemon. Time is
 * counted in ticks, so that a frozen process or a suspended machine uses none of anybody's grace.
 */
export class Life {
  readonly #options: LifeOptions
  readonly #links = new Set<ServerLink>()
  readonly #lost = new Map<ServerLink, { leftMs: number; forget(): void }>()
  readonly #timer: NodeJS.Timeout
  readonly #tickMs: number
  #ticked = performance.now()
  #unusedMs = 0
  #idleMs: number
  #finished = false

  constructor(options: LifeOptions) {
    this.#options = options
    this.#idleMs = options.awaitsHost ? Math.min(options.idleMs, FIRST_LINK_MS) : options.idleMs
    this.#tickMs = options.tickMs ?? TICK_MS
    this.#timer = setInterval(() => this.#tick(), this.#tickMs)
  }

  /** Whether the daemon ends: nobody can begin anything with it any more. */
  get over(): boolean {
    return this.#finished
  }

  /** Whether no host is here or may come back, and nothing runs. */
  get unused(): boolean {
    return this.#links.size === 0 && !this.#options.work.busy()
  }

  attached(link: ServerLink): void {
    this.#links.add(link)
    this.#lost.delete(link)
  }

  /** A host said who it is: its owner's lost links will not come back, their commands go on as jobs. */
  opened(link: ServerLink): void {
    this.#idleMs = link.idleMs ?? this.#options.idleMs
    for (const lost of this.#lost.keys()) {
      if (lost === link || link.context === undefined || lost.context?.owner !== link.context.owner) continue
      this.#options.work.linkLost(lost.id)
      this.#options.work.inherit(lost.id, link.context)
    }
  }

  /** A stream ended without goodbye; `forget` is called when the link's grace is over. */
  dropped(link: ServerLink, forget: () => void) {
    this.#lost.set(link, { leftMs: link.graceMs, forget })
    if (link.context === undefined) this.#expire(link)
  }

  /** `end`: the owner's work ends now, unless another of its links lives, and a daemon without other links ends too. */
  goodbye(link: ServerLink, mode: 'end' | 'detach') {
    this.#links.delete(link)
    this.#lost.delete(link)
    if (mode === 'detach') return this.#options.work.linkLost(link.id)
    link.calls.cancelAll()
    void this.#endWork(link).then(() => this.#endWhenUnused('the last host left'))
  }

  /**
   * Without hosts nobody waits for it: it ends as soon as nothing runs, what other owners left running included. A host that
   * was lost and comes back finds a new daemon and misses nothing.
   */
  #endWhenUnused(reason: string): void {
    if ([...this.#links].some(link => !this.#lost.has(link))) return
    this.#idleMs = 0
    if (!this.#options.work.busy()) this.finish(reason)
  }

  /** Ends the daemon. */
  finish(reason: string): void {
    if (this.#finished) return
    this.#finished = true
    clearInterval(this.#timer)
    this.#options.end(reason)
  }

  #tick() {
    const now = performance.now()
    const elapsed = Math.min(now - this.#ticked, 2 * this.#tickMs)
    this.#ticked = now
    if (!this.#options.sound()) return this.finish(TAKEN_OVER)
    for (const [link, grace] of this.#lost) {
      grace.leftMs -= elapsed
      if (grace.leftMs <= 0) this.#expire(link)
    }
    this.#unusedMs = this.unused ? this.#unusedMs + elapsed : 0
    if (this.#unusedMs >= this.#idleMs) this.finish(`unused for ${this.#idleMs} ms`)
  }

  #expire(link: ServerLink): void {
    const grace = this.#lost.get(link)
    this.#lost.delete(link)
    this.#links.delete(link)
    grace?.forget()
    void this.#endWork(link).then(() => this.#endWhenUnused('the last host did not come back'))
  }

  /** What an owner started elsewhere is left alone while another of its links lives, one that came meanwhile included. */
  async #endWork(link: ServerLink): Promise<void> {
    const owner = link.context?.owner
    if (owner === undefined) return
    const isShared = (): boolean => [...this.#links].some(other => other.context?.owner === owner)
    await this.#options.work.end(() => (isShared() ? { link: link.id } : { owner }))
  }
}
