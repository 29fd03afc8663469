import { closeSync, statSync, writeSync } from 'node:fs'
import { GATEWAY } from './abandoned.ts'
import { MARKER, type PreparedState } from './child-env.ts'
import type { FifoPool } from './fifo-pool.ts'
import { bashArgs, READY_BOOT, readyMessage } from './shell-boot.ts'
import { type Spawned, spawnShell } from './spawn-shell.ts'

/** An empty pipe takes so much at once on every system. */
const MOST_BYTES = 4096

export interface ReadyShellOptions {
  /** Path of a bash. */
  shell: string
  state: PreparedState
  gateway: string
  fifos: FifoPool
}

/** A shell that was started ahead of its command and waits for it. Its owner begins or dismisses it, once. */
export class ReadyShell {
  /** Id of the run that it will be: its processes are marked with it from the start. */
  readonly id: string
  readonly #state: PreparedState
  readonly #directory: string | undefined
  readonly #spawned: Spawned
  #control: number | undefined
  #gone = false

  /** `onExit` is called when it ends without a command. Throws where no process can be started. */
  constructor(id: string, options: ReadyShellOptions & { onExit(shell: ReadyShell): void }) {
    const { state, fifos } = options
    this.id = id
    this.#state = state
    this.#directory = identity(state.cwd)
    const control = fifos.input()
    this.#control = control.write
    try {
      this.#spawned = spawnShell([options.shell, ...bashArgs(READY_BOOT)], {
        cwd: state.cwd,
        env: { ...state.env, [MARKER]: id, [GATEWAY]: options.gateway },
        output: fifos.output(),
        control: control.read,
      })
    } catch (error) {
      closeSync(control.write)
      throw error
    }
    void this.#spawned.exited.then(() => {
      this.#gone = true
      if (this.#control !== undefined) options.onExit(this)
    })
  }

  /** Whether a command that starts from `state` may run in it: the directory must be the same one still. */
  fits(state: PreparedState): boolean {
    return !this.#gone && state === this.#state && this.#directory !== undefined && this.#directory === identity(state.cwd)
  }

  /** Whether a shell of the given state will be of use at all. */
  static serves(state: PreparedState): boolean {
    return state.restore === '' && !state.posix && state.env.SECONDS === undefined
  }

  /** Lets it run the boot code with its text; undefined where it can't, and then it is dismissed. */
  begin(code: string, text: string): Spawned | undefined {
    const control = this.#control
    const message = readyMessage(code, text)
    if (control === undefined || !isPlain(message) || !written(control, message)) {
      this.dismiss()
      return undefined
    }
    closeSync(control)
    this.#control = undefined
    return this.#spawned
  }

  /** Ends it: without a writer its pipe is at its end. */
  dismiss(): void {
    if (this.#control === undefined) return
    closeSync(this.#control)
    this.#control = undefined
    const { read, handover, exited, giveBack } = this.#spawned
    closeSync(read)
    closeSync(handover)
    void exited.then(() => giveBack(true))
  }
}

// locales differ in what a character is, and the shell counts characters
function isPlain(message: string): boolean {
  return message.length <= MOST_BYTES && Buffer.byteLength(message) === message.length
}

function written(fd: number, message: string): boolean {
  try {
    return writeSync(fd, message) === message.length
  } catch {
    // it was ended by somebody: there is no reader any more
    return false
  }
}

/** A directory by what it is, not by its name; undefined where there is none. */
function identity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isDirectory() ? `${stat.dev}:${stat.ino}` : undefined
}
