import { firstEnvironment, type PreparedState, prepareState } from './child-env.ts'
import { directoryFault } from './launch.ts'
import { toBytes } from './quote.ts'
import { parseDump, type ShellDump } from './shell-dump.ts'
import { applyChange, changeOf, firstState, type ShellState, type StateChange, shownCwd } from './shell-state.ts'

/** The state that a command starts from, and whether its directory was chosen for it alone. */
export interface StartState {
  state: ShellState
  prepared: PreparedState
  ownCwd: boolean
}

/** Shell state by session: what the next command of each starts from. */
export class Sessions {
  readonly #workdir: string
  readonly #kind: 'bash' | 'sh'
  readonly #states = new Map<string, ShellState>()
  /** Listing of a shell that changed nothing, by the state that it started from. */
  readonly #unchanged = new WeakMap<ShellState, string>()
  readonly #prepared = new WeakMap<ShellState, PreparedState>()

  constructor(workdir: string, kind: 'bash' | 'sh') {
    this.#workdir = workdir
    this.#kind = kind
  }

  /** Where the session's next command starts; `env` makes the first state. */
  start(session: string, options: { env: Readonly<Record<string, string>>; cwd?: string | undefined }): StartState {
    const state = this.#of(session, options.env)
    if (options.cwd === undefined) return { state, prepared: this.#prepare(state), ownCwd: false }
    const there = { ...state, cwd: toBytes(options.cwd) }
    return { state: there, prepared: prepareState(there, this.#kind), ownCwd: true }
  }

  /** What the session's next command starts from, where it had one before. */
  prepared(session: string): PreparedState | undefined {
    const state = this.#states.get(session)
    return state && this.#prepare(state)
  }

  /** Moves a session whose directory is gone to the first one. */
  moveHome(session: string): void {
    const state = this.#states.get(session)
    if (state) this.#states.set(session, { ...state, cwd: toBytes(this.#workdir) })
  }

  cwd(session: string): string {
    const state = this.#states.get(session)
    return state ? shownCwd(state) : this.#workdir
  }

  /** Takes over what a run changed, by its dump; gives sentences about what could not be kept. */
  finish(session: string, start: StartState, dump: { raw: string; run: string; own: readonly string[] }): string[] {
    const found = parseDump(dump.raw, dump.run, this.#kind)
    if (!found) return ['The shell ended without leaving its state: directory and environment stay as before this command.']
    const current = this.#states.get(session)
    if (!current) return []
    const change = this.#changeOf(start.state, found, dump.run)
    const lost = found.cwd === ''
    if (lost) change.cwd = undefined
    for (const name of dump.own) change.variables.delete(toBytes(name))
    if (start.ownCwd) {
      change.cwd = undefined
      change.variables.delete('OLDPWD')
    }
    const changed = change.cwd !== undefined || change.variables.size > 0 || change.functions !== undefined
    const { state, dropped } = changed ? applyChange(current, change) : { state: current, dropped: [] }
    this.#states.set(session, state)
    const notices = dropped.map(name => `${name} is too large to be carried to the next command; it was dropped.`)
    return [...notices, ...this.#leaveMissing(session, lost && !start.ownCwd)]
  }

  /** After a run that changed nothing itself: its directory may be gone all the same. Gives sentences. */
  settle(session: string): string[] {
    return this.#leaveMissing(session, false)
  }

  forget(session: string): void {
    this.#states.delete(session)
  }

  clear(): void {
    this.#states.clear()
  }

  /** Most commands change nothing: a listing that is the one of the last look at the same state need not be read. */
  #changeOf(base: ShellState, found: ShellDump, run: string): StateChange {
    const listing = found.exports.replace(run, '')
    if (this.#unchanged.get(base) === `${listing}\0${found.functions}`) {
      return { cwd: found.cwd === base.cwd ? undefined : found.cwd, variables: new Map(), functions: undefined }
    }
    const change = changeOf(base, found)
    if (change.variables.size === 0 && change.functions === undefined) this.#unchanged.set(base, `${listing}\0${found.functions}`)
    return change
  }

  #leaveMissing(session: string, lost: boolean): string[] {
    const state = this.#states.get(session)
    if (!state || (!lost && directoryFault(Buffer.from(state.cwd, 'latin1')) === undefined)) return []
    this.moveHome(session)
    return [`The working directory${lost ? '' : ` ${shownCwd(state)}`} is gone; the next command starts in ${this.#workdir}.`]
  }

  #of(session: string, env: Readonly<Record<string, string>>): ShellState {
    const known = this.#states.get(session)
    if (known) return known
    const state = firstState(firstEnvironment(env), this.#workdir)
    this.#states.set(session, state)
    return state
  }

  #prepare(state: ShellState): PreparedState {
    const known = this.#prepared.get(state)
    if (known) return known
    const prepared = prepareState(state, this.#kind)
    this.#prepared.set(state, prepared)
    return prepared
  }
}
