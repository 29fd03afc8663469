import { stat } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { CommandStatus, JobInfo } from '../protocol-commands.ts'
import type { JobFolders, JobRecord } from './job-record.ts'
import { groupMembers } from './process-tree.ts'
import { signalOf } from './pty-holder.ts'
import type { ShellExit, StopReason } from './running-command.ts'
import { endTree, liveProcesses, type MarkedProcesses, signalTree, type Tree } from './tree-end.ts'

/** Signals that end nothing by themselves. */
export const HARMLESS: ReadonlySet<string> = new Set('SIGSTOP SIGTSTP SIGCONT SIGCHLD SIGWINCH SIGURG SIGTTIN SIGTTOU'.split(' '))

/** A log's last bytes get there within this, unless something unseen still holds the output open. */
const SETTLE_MS = 300

export interface JobOptions {
  record: JobRecord
  link: string
  folders: JobFolders
  marked: MarkedProcesses
  input?: Socket | undefined
  /** The shell's exit, where this process is its parent. */
  exited?: Promise<ShellExit> | undefined
  /** Resolves when the log has all of the output. */
  logged?: Promise<void> | undefined
  /** Called when the job's state changed. */
  onChange: (job: Job) => void
}

/** A command, or what one left behind, that goes on by itself; ends when none of its processes lives. */
export class Job {
  readonly record: JobRecord
  link: string
  readonly input: Socket | undefined
  readonly ended: Promise<void>
  readonly #options: JobOptions
  readonly #timers = new Set<NodeJS.Timeout>()
  #end!: () => void
  #reason: StopReason | undefined
  #signal: string | undefined
  #groupGone = false
  #shellGone: boolean

  constructor(options: JobOptions) {
    this.#options = options
    this.record = options.record
    this.link = options.link
    this.input = options.input
    this.#shellGone = options.exited === undefined
    this.ended = new Promise(resolve => {
      this.#end = resolve
    })
    if (this.record.status !== 'running') this.#end()
  }

  get id(): string {
    return this.record.id
  }
  get running(): boolean {
    return this.record.status === 'running'
  }
  get tree(): Tree {
    const group = this.#groupGone ? undefined : this.record.process?.pid
    return { group, mark: this.id, holder: this.record.input === 'pty' }
  }

  async info(): Promise<JobInfo> {
    const { id, command, status, exitCode, signal, startedAt, endedAt, kind, input, terminal } = this.record
    const log = this.#options.folders.log(id)
    const bytes = await stat(log).then(
      s => s.size,
      () => 0,
    )
    return {
      ...{ id, command, status, startedAt, log, bytes, input, kind },
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(signal === undefined ? {} : { signal }),
      ...(endedAt === undefined ? {} : { endedAt }),
      ...(this.record.process === undefined ? {} : { pid: this.record.process.pid }),
      ...(terminal === undefined ? {} : { terminal }),
    }
  }

  /** Waits until nothing of the job lives and nothing writes to its log any more, then settles its end. */
  async watch(): Promise<void> {
    let writing = this.#options.logged !== undefined
    void this.#options.logged?.then(() => {
      writing = false
    })
    await this.#noteExit()
    for (let wait = 20; this.running && (writing || (await this.pids()).length > 0); wait = Math.min(wait * 1.6, 1000)) {
      await this.#sleep(wait)
    }
    await this.finish()
  }

  /** Ends at once a job of which nothing lives and whose log is whole; the watch would see it a little later. */
  async settle(): Promise<void> {
    if (!this.running || !this.#shellGone || (await this.pids()).length > 0) return
    const { logged } = this.#options
    const whole =
      logged === undefined || (await Promise.race([logged.then(() => true), this.#sleep(SETTLE_MS).then(() => false)]))
    if (whole) await this.finish()
  }

  /** Live processes of the job. An empty group is never looked at again: its id may become another's. */
  async pids(): Promise<number[]> {
    const { group } = this.tree
    if (group !== undefined && this.#shellGone && groupMembers(group).length === 0) this.#groupGone = true
    return liveProcesses(this.tree, this.#options.marked)
  }

  /** Sends a signal to all processes of the job. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    if (!HARMLESS.has(signal)) this.#signal = signal
    await signalTree(this.tree, this.#options.marked, signal)
  }

  /** Ends the job with all that it started. */
  async stop(reason: StopReason): Promise<void> {
    if (!this.running) return
    this.#reason ??= reason
    await endTree(this.tree, this.#options.marked)
    await this.finish()
  }

  /** Stops the job when it is `ms` old by its record; the timer never holds the process. */
  limit(ms: number): void {
    const left = Math.max(0, new Date(this.record.startedAt).getTime() + ms - Date.now())
    const timer = setTimeout(() => void this.stop('timed_out'), Math.min(left, 2 ** 31 - 1))
    timer.unref()
    this.#timers.add(timer)
  }

  /** Stops watching; the job itself goes on. */
  abandon(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.input?.destroy()
  }

  /** Settles the job's end from what is known: an exit that nobody saw is `unknown`. */
  async finish(): Promise<void> {
    if (!this.running) return this.ended
    await Promise.race([Promise.all([this.#noteExit(), this.#options.logged]), this.#sleep(1000)])
    // A shell that is ended in the middle of a command records the code of what came before.
    const ended = this.#reason !== undefined || this.record.signal !== undefined
    const recorded = this.record.kind === 'command' && !ended
    const seen = this.record.exitCode ?? (recorded ? await this.#options.folders.exitCode(this.id) : undefined)
    if (!this.running) return this.ended
    if (seen !== undefined) this.record.exitCode = seen
    else if (this.#signal !== undefined || this.#reason === 'killed') this.record.signal ??= this.#signal ?? 'SIGTERM'
    this.record.status = this.#status()
    this.record.endedAt = new Date().toISOString()
    this.abandon()
    await this.#options.folders.save(this.record).catch(() => {})
    this.#end()
    this.#options.onChange(this)
  }

  #status(): CommandStatus {
    if (this.#reason === 'timed_out' || this.#reason === 'cancelled') return this.#reason
    if (this.record.signal !== undefined) return 'signaled'
    return this.record.exitCode === undefined ? 'unknown' : 'exited'
  }

  async #noteExit(): Promise<void> {
    const exit = await this.#options.exited
    this.#shellGone = true
    const stopped = this.#reason !== undefined || this.#signal !== undefined
    const signal = exit?.signal ?? (stopped && this.record.input === 'pty' ? signalOf(exit?.exitCode) : undefined)
    if (signal !== undefined) this.record.signal = signal
    else if (exit?.exitCode !== undefined) this.record.exitCode = exit.exitCode
  }

  #sleep(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        resolve()
      }, ms)
      timer.unref()
      this.#timers.add(timer)
    })
  }
}
