import type { ProvisionOptions } from '../backends/backend.ts'
import { formatMs, throwIfAborted, withSignal } from '../lib/deadline.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { OpenEntry } from './open-entry.ts'
import { type Bounds, createSweeper } from './sweeper.ts'

/** How a workspace is ended. */
export interface Ending<T> {
  how: (workspace: Workspace) => Promise<T>
  /** What is done instead when it can't be opened; absent: that error is thrown. */
  unopened?: (error: unknown) => Promise<T>
}

/** Goodbyes that take longer are the gateways' to finish. */
const GOODBYE_MS = 1_200
/** As often are those told that it goes on who wait for a workspace: clients give up what is silent. */
const PULSE_MS = 10_000
const stillMaking = (since: number): string =>
  `The workspace is being made ready, for ${formatMs(Math.round((performance.now() - since) / 1_000) * 1_000)} now.`

/** The workspaces that this process has open: one build per id at a time, leases counted, idle ones closed. */
export class OpenWorkspaces {
  readonly #entries = new Map<string, OpenEntry>()
  /** Why the sweeper closed an id, until it is opened again. */
  readonly #swept = new Map<string, string>()
  readonly #sweeper
  readonly #logger: Logger
  #ended: Promise<void> | undefined

  constructor(bounds: Bounds, logger: Logger) {
    this.#logger = logger
    this.#sweeper = createSweeper(this.#entries, bounds, {
      logger,
      close: (entry, why) => this.#sweep(entry, why),
    })
  }

  /** The open workspace of an id. */
  get(id: string): Workspace | undefined {
    const entry = this.#entries.get(id)
    return entry?.closing === undefined ? entry?.workspace : undefined
  }

  /** Resolves once the workspace of an id that is being closed is, however that ends. */
  async closed(id: string): Promise<void> {
    await this.#entries.get(id)?.closing?.catch(() => {})
  }

  /** What to say to whoever opens an id again that the sweeper closed; given once. */
  takeSweepNote(id: string): string | undefined {
    const note = this.#swept.get(id)
    this.#swept.delete(id)
    return note
  }

  /**
   * A counted hold on the workspace of `id`, built by `build` when it isn't open. Aborting ends this wait alone: the build goes
   * on for the others, and what it makes is kept or closed by the sweeper. A failed build is forgotten.
   */
  async hold(
    id: string,
    build: (tell: (sentence: string) => void) => Promise<Workspace>,
    { signal, onProgress }: ProvisionOptions = {},
  ): Promise<{ workspace: Workspace; release(): void }> {
    for (;;) {
      throwIfAborted(signal)
      if (this.#ended !== undefined)
        throw new WorkspaceError('unavailable', `Workspace ${id} is not opened: this server is ending.`)
      const closing = this.#entries.get(id)?.closing
      if (closing === undefined) break
      await withSignal(
        closing.catch(() => {}),
        signal,
      )
    }
    const entry = this.#entries.get(id) ?? this.#start(id, build)
    entry.leases++
    if (onProgress !== undefined && entry.workspace === undefined) entry.listeners.add(onProgress)
    let held = true
    const release = () => {
      if (!held) return
      held = false
      entry.leases--
      entry.usedAt = performance.now()
    }
    try {
      return { workspace: await withSignal(entry.building, signal), release }
    } catch (error) {
      release()
      throw error
    } finally {
      if (onProgress !== undefined) entry.listeners.delete(onProgress)
    }
  }

  /** Takes an open workspace out and ends it; whoever asks for its id meanwhile waits. `undefined` when it isn't open any more. */
  async end<T>(workspace: Workspace, how: (workspace: Workspace) => Promise<T>): Promise<{ result: T } | undefined> {
    const entry = [...this.#entries.values()].find(each => each.workspace === workspace)
    if (entry === undefined || entry.closing !== undefined) return undefined
    return { result: await this.#end(entry, how) }
  }

  /** Says goodbye to all at once. What does not answer within the bound is left to its gateway. */
  endAll(): Promise<void> {
    this.#ended ??= this.#endAll()
    return this.#ended
  }

  async #endAll(): Promise<void> {
    this.#sweeper.stop()
    const all = [...this.#entries.values()].map(async entry => {
      await entry.closing?.catch(() => {})
      if (this.#entries.get(entry.id) !== entry) return
      await entry.building
      await this.#end(entry, workspace => workspace.detach())
    })
    const done = Promise.allSettled(all).then(results => {
      for (const result of results) if (result.status === 'rejected') this.#logger.warn({ err: result.reason }, 'goodbye failed')
    })
    let timer: NodeJS.Timeout | undefined
    const bound = new Promise<void>(resolve => {
      timer = setTimeout(resolve, GOODBYE_MS)
    })
    await Promise.race([done, bound])
    clearTimeout(timer)
  }

  #start(id: string, build: (tell: (sentence: string) => void) => Promise<Workspace>): OpenEntry {
    const now = performance.now()
    const listeners: OpenEntry['listeners'] = new Set()
    const tell = (sentence: string) => {
      for (const listener of listeners) listener(sentence)
    }
    const pulse = setInterval(() => tell(stillMaking(now)), PULSE_MS).unref()
    const building = build(tell).finally(() => clearInterval(pulse))
    const entry: OpenEntry = { id, building, listeners, leases: 0, openedAt: now, usedAt: now }
    this.#entries.set(id, entry)
    entry.building.then(
      workspace => {
        entry.workspace = workspace
        entry.openedAt = entry.usedAt = performance.now()
        this.#sweeper.start()
      },
      () => this.#entries.delete(id),
    )
    return entry
  }

  #sweep(entry: OpenEntry, why: string): Promise<unknown> {
    this.#swept.set(
      entry.id,
      `was closed meanwhile (${why}): files are as they were; shell directory, exported variables and what was read begin anew.`,
    )
    return this.#end(entry, workspace => workspace.close())
  }

  #end<T>(entry: OpenEntry, how: (workspace: Workspace) => Promise<T>): Promise<T> {
    const closing = entry.building.then(how).finally(() => {
      if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id)
      if (this.#entries.size === 0) this.#sweeper.stop()
    })
    entry.closing = closing
    closing.catch(() => {})
    return closing
  }
}
