import { closeSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { CommandOutput } from './command-output.ts'
import type { DumpFile } from './dump-files.ts'
import { inputSocket } from './input-socket.ts'
import type { Launched } from './launch.ts'
import { OutputReader } from './output-reader.ts'
import { endTree, type MarkedProcesses, type Tree } from './tree-end.ts'

/** Who a command belongs to; `link` moves when an owner comes back by another one. */
export interface Owner {
  owner: string
  link: string
  session: string
}

export type StopReason = 'timed_out' | 'cancelled' | 'killed'

/** How the shell itself ended. */
export interface ShellExit {
  exitCode?: number
  signal?: string
}

export interface RunningCommandOptions {
  id: string
  command: string
  owner: Owner
  launched: Launched
  /** The process that was started holds a terminal. */
  holder: boolean
  dump: DumpFile | undefined
  output: { headBytes: number; tailBytes: number; logPath: string; logMaxBytes: number }
  buffer: Buffer
  marked: MarkedProcesses
  /** Gets each chunk as it comes, valid during the call only. */
  onChunk: ((chunk: Buffer) => void) | undefined
}

/** One started shell with its output, from the start until its answer; owns every descriptor of it. */
export class RunningCommand {
  readonly id: string
  readonly command: string
  readonly owner: Owner
  readonly pid: number | undefined
  readonly startedAt = new Date()
  readonly output: CommandOutput
  readonly dump: DumpFile | undefined
  readonly exited: Promise<ShellExit & { error?: Error }>
  #input: Socket | undefined
  readonly #started = performance.now()
  readonly #reader: OutputReader
  readonly #marked: MarkedProcesses
  readonly #holder: boolean
  #handover: number | undefined
  readonly #giveBack: Launched['giveBack']
  #stopping: Promise<void> | undefined
  #reason: StopReason | undefined
  #gone = false
  #unended: readonly number[] = []
  #detach!: () => void
  /** Resolves when the answer shall not wait for the end any longer. */
  readonly detached = new Promise<void>(resolve => {
    this.#detach = resolve
  })
  #close!: () => void
  /** Resolves when it was answered for, as a job or with its end. */
  readonly closed = new Promise<void>(resolve => {
    this.#close = resolve
  })
  #leaving = false
  #giveUp!: () => void
  readonly #givenUp = new Promise<ShellExit & { error?: Error }>(resolve => {
    this.#giveUp = () => resolve({})
  })

  constructor(options: RunningCommandOptions) {
    const { launched } = options
    this.id = options.id
    this.command = options.command
    this.owner = options.owner
    this.dump = options.dump
    this.pid = launched.child.pid
    this.#marked = options.marked
    this.#holder = options.holder
    this.#handover = launched.handover
    this.#giveBack = launched.giveBack
    this.output = new CommandOutput({ ...options.output, pause: () => this.#reader.pause(), resume: () => this.#reader.resume() })
    this.#reader = new OutputReader(launched.read, {
      buffer: options.buffer,
      onChunk: chunk => {
        this.output.push(chunk)
        options.onChunk?.(chunk)
      },
    })
    this.#input = launched.input === undefined ? undefined : inputSocket(launched.input)
    this.exited = launched.exited.then(({ code, signal, error }) => {
      launched.cleanup()
      this.#gone = true
      return { ...(code === null ? {} : { exitCode: code }), ...(signal === null ? {} : { signal }), ...(error ? { error } : {}) }
    })
    if (this.pid !== undefined) preferAsVictim(this.pid)
  }

  get tree(): Tree {
    return { group: this.pid, mark: this.id, holder: this.#holder }
  }
  get durationMs(): number {
    return Math.round(performance.now() - this.#started)
  }
  get stopReason(): StopReason | undefined {
    return this.#reason
  }
  /** Processes that a stop could not end. */
  get unended(): readonly number[] {
    return this.#unended
  }
  /** Whether the shell has exited. */
  get gone(): boolean {
    return this.#gone
  }
  /** Whether it is about to become a job. */
  get leaving(): boolean {
    return this.#leaving
  }
  /** Whether anything may still write to the output. */
  get writers(): boolean {
    return !this.#reader.eof
  }

  /** Ends everything that this command started; resolves when nothing lives. The first reason counts. */
  stop(reason: StopReason): Promise<void> {
    this.#reason ??= reason
    this.#stopping ??= endTree(this.tree, this.#marked).then(left => {
      this.#unended = left
      // what is stuck in the kernel has no exit to wait for
      setTimeout(this.#giveUp, 1000).unref()
    })
    return this.#stopping
  }

  /** Lets the command go on as a job. */
  detach(): void {
    if (this.#gone || this.#reason !== undefined) return
    this.#leaving = true
    this.#detach()
  }

  /** Waits for the shell's exit, for what is left in the pipe, and for a stop under way. */
  async finish(): Promise<ShellExit & { error?: Error }> {
    const exit = await Promise.race([this.exited, this.#givenUp])
    await this.#stopping
    await this.#reader.drain({ quietMs: 30, maxMs: 200 })
    return exit
  }

  /** Stops reading, puts what was read into the log and gives the blocking end of the pipe away: the taker closes it. */
  async release(): Promise<number> {
    this.#reader.pause()
    await this.output.toLog()
    const fd = this.#handover as number
    this.#handover = undefined
    this.#reader.destroy()
    return fd
  }

  /** Gives the command's input away; undefined where it has none. */
  takeInput(): Socket | undefined {
    const input = this.#input
    this.#input = undefined
    return input
  }

  /** Closes all that is still open here. */
  close(): void {
    this.#reader.destroy()
    this.#input?.destroy()
    const isHere = this.#handover !== undefined
    if (this.#handover !== undefined) closeSync(this.#handover)
    this.#handover = undefined
    this.#reader.closed.then(() => this.#giveBack(isHere && this.#reader.eof))
    this.#close()
  }
}

/** Makes a command an easier victim than this process when memory runs out; not possible everywhere, and then not needed. */
export function preferAsVictim(pid: number): void {
  if (process.platform !== 'linux') return
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500')
  } catch {
    // over already, or not allowed here
  }
}
