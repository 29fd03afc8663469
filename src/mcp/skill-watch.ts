import type { Scope } from '../manager/scope.ts'
import type { SessionContext } from './session-context.ts'
import { openedCurrent } from './skill-access.ts'

/** How soon a change is seen while somebody works, and at the latest. */
const SOON_MS = 2_000
const LATE_MS = 60_000
/** Looks in a row without a change before the next one takes longer. */
const SOON_LOOKS = 20
/** What a client was shown while no workspace was open. */
const NOTHING = 'closed'

/**
 * Tells a client that was shown skills when they have changed: by another agent, on disk, or since their workspace was opened. It
 * looks often after a request and ever more rarely without one, never opens a workspace, and keeps none open.
 */
export class SkillWatch {
  readonly #context: SessionContext
  readonly #changed: () => void
  #scope: Scope | undefined
  #shown: string | undefined
  #looks = 0
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(context: SessionContext, changed: () => void) {
    this.#context = context
    this.#changed = changed
  }

  /** Runs `list`, whose outcome the client is about to see, and watches from then on. */
  async showing<T>(scope: Scope, list: () => Promise<T>): Promise<T> {
    const before = await this.#version(scope)
    const shown = await list()
    // The first listing makes the folders that it then finds.
    const fresh = before === undefined || before.endsWith(':none')
    const seen = (fresh ? await this.#version(scope) : before) ?? NOTHING
    const stale = this.#shown !== undefined && this.#scope?.agent === scope.agent && this.#shown !== seen && !fresh
    this.#scope = scope
    this.#shown = seen
    if (stale) this.#changed()
    this.#arm(true)
    return shown
  }

  /** Somebody works: looks soon again. */
  touch(): void {
    if (this.#shown !== undefined) this.#arm(true)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  #arm(soon: boolean): void {
    if (this.#closed) return
    if (soon) this.#looks = 0
    clearTimeout(this.#timer)
    const longer = 2 ** Math.max(0, this.#looks - SOON_LOOKS)
    this.#timer = setTimeout(() => void this.#look(), Math.min(LATE_MS, SOON_MS * longer)).unref()
  }

  async #look(): Promise<void> {
    const scope = this.#scope
    const now = scope && (await this.#version(scope))
    if (this.#closed || scope !== this.#scope) return
    this.#looks += 1
    if (now !== undefined && now !== this.#shown) {
      this.#shown = now
      this.#looks = 0
      this.#changed()
    }
    this.#arm(false)
  }

  async #version(scope: Scope): Promise<string | undefined> {
    try {
      const workspace = await openedCurrent(this.#context, scope)
      return workspace && `${workspace.id}:${await workspace.skills.version(scope.agent)}`
    } catch (error) {
      this.#context.services.logger.debug({ error: String(error) }, 'skills could not be looked at')
      return undefined
    }
  }
}
