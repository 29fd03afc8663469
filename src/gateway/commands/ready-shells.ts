import type { PreparedState } from './child-env.ts'
import { ReadyShell, type ReadyShellOptions } from './ready-shell.ts'
import { newId } from './run-parts.ts'

/** Sessions that have a shell ready, those of the last commands. */
const MOST = 4
/** A session that rests for longer starts its next shell itself. */
const LIFE_MS = 300_000
/** Shells that ended unasked; where that happens again and again none are made any more. */
const MOST_FAILURES = 3

/** Shells that were started ahead of need: most commands start from where the last one of their session ended. */
export class ReadyShells {
  readonly #options: Omit<ReadyShellOptions, 'state'>
  /** By session, the one of the last command at the end. */
  readonly #shells = new Map<string, { shell: ReadyShell; timer: NodeJS.Timeout }>()
  #failures = 0

  constructor(options: Omit<ReadyShellOptions, 'state'>) {
    this.#options = options
  }

  /** The session's shell, for the taker to begin; undefined where none waits for a command from this state. */
  take(session: string, state: PreparedState): ReadyShell | undefined {
    const known = this.#shells.get(session)
    if (known?.shell.fits(state)) {
      this.#drop(session)
      return known.shell
    }
    this.dismiss(session)
    return undefined
  }

  /** Starts a shell for the session's next command. */
  prepare(session: string, state: PreparedState): void {
    if (this.#shells.get(session)?.shell.fits(state)) return
    this.dismiss(session)
    if (!ReadyShell.serves(state) || this.#failures >= MOST_FAILURES) return
    try {
      const shell = new ReadyShell(newId(), { ...this.#options, state, onExit: gone => this.#failed(session, gone) })
      this.#shells.set(session, { shell, timer: setTimeout(() => this.dismiss(session), LIFE_MS).unref() })
    } catch {
      // the next command meets the same fault, and tells it
      this.#failures++
    }
    const [oldest] = this.#shells.keys()
    if (this.#shells.size > MOST && oldest !== undefined) this.dismiss(oldest)
  }

  dismiss(session: string): void {
    this.#drop(session)?.dismiss()
  }

  dismissAll(): void {
    for (const session of [...this.#shells.keys()]) this.dismiss(session)
  }

  #failed(session: string, shell: ReadyShell): void {
    this.#failures++
    if (this.#shells.get(session)?.shell === shell) this.#drop(session)
    shell.dismiss()
  }

  #drop(session: string): ReadyShell | undefined {
    const known = this.#shells.get(session)
    this.#shells.delete(session)
    clearTimeout(known?.timer)
    return known?.shell
  }
}
