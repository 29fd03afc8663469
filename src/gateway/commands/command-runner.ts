import { rm } from 'node:fs/promises'
import type { CallContext } from '../dispatch.ts'
import type { RunParams, RunResult } from '../protocol-commands.ts'
import { CommandStarter, type CommandStarterOptions } from './command-starter.ts'
import { FifoPool } from './fifo-pool.ts'
import { directoryFault } from './launch.ts'
import { OomWatch } from './oom-watch.ts'
import { groupExists, groupMembers } from './process-tree.ts'
import type { HolderName } from './pty-holder.ts'
import { checkSize } from './pty-size.ts'
import { PtyStarts } from './pty-starts.ts'
import { checkRun, notRun, startError, unendedNotice, waitingNotice } from './run-checks.ts'
import type { RunningCommand, ShellExit } from './running-command.ts'
import type { Sessions, StartState } from './sessions.ts'
import type { FoundShell } from './shell-finder.ts'

export interface CommandRunnerOptions extends CommandStarterOptions {
  sessions: Sessions
  /** What may hold a terminal; absent: whatever is there. */
  ptyHolders?: readonly HolderName[] | undefined
  /** Called when a command is over and no job: some process of it may still live unseen. */
  onFinished: (run: RunningCommand) => void
  /** Called when a job goes on of which the session has seen so many bytes. */
  onShown: (session: string, job: string, bytes: number) => void
}

/** Runs commands from their start to their answer. */
export class CommandRunner {
  readonly running = new Map<string, RunningCommand>()
  readonly #options: CommandRunnerOptions
  readonly #starter: CommandStarter
  readonly #oom = new OomWatch()
  readonly #ptys: PtyStarts
  #disposed = false

  constructor(options: CommandRunnerOptions) {
    this.#options = options
    const fifos = new FifoPool(options.runtimeDir)
    this.#starter = new CommandStarter(options, fifos)
    this.#ptys = new PtyStarts({ directory: options.runtimeDir, fifos, holders: options.ptyHolders })
    this.#oom.begin()
  }

  /** Makes pipes ahead of the first command. */
  warm(): void {
    this.#starter.warm()
  }

  async run(params: RunParams, context: CallContext): Promise<RunResult> {
    checkRun(params, this.#options.shell)
    context.signal.throwIfAborted()
    const { cwd, session } = params
    const start = this.#options.sessions.start(session, { env: context.link.env, cwd })
    const fault = start.prepared.restore === '' ? undefined : directoryFault(Buffer.from(start.state.cwd, 'latin1'))
    if (fault !== undefined) return notRun(params, fault, this.#options.sessions)
    const pty = params.input === 'pty' ? await this.#ptys.prepare(params, start.prepared.env.PATH ?? '') : undefined
    context.signal.throwIfAborted()
    const run = this.#starter.start(params, { context, prepared: start.prepared, pty })
    if (run.pid === undefined) return this.#neverStarted(run, params, start)
    this.running.set(run.id, run)
    try {
      return params.background ? await this.#toJob(run, params) : await this.#attend(run, params, { context, start })
    } finally {
      this.running.delete(run.id)
      run.close()
      if (this.running.size === 0) setImmediate(() => setImmediate(() => this.#prepareNext(session)))
    }
  }

  /** Has a shell ready for the session's next command, while nobody waits. */
  #prepareNext(session: string): void {
    const prepared = this.#options.sessions.prepared(session)
    if (this.running.size === 0 && !this.#disposed && prepared) this.#starter.ready?.prepare(session, prepared)
  }

  /** Removes inputs of terminals that have no job any more. */
  clearInputs(isJob: (id: string) => boolean): void {
    this.#ptys.inputs.removeOthers(id => isJob(id) || this.running.has(id))
  }

  /** Drops what was made ready for a session, or for all. */
  forget(session?: string): void {
    if (session === undefined) this.#starter.ready?.dismissAll()
    else this.#starter.ready?.dismiss(session)
  }

  dispose(): void {
    this.#disposed = true
    this.#starter.dispose()
  }

  async #neverStarted(run: RunningCommand, params: RunParams, start: StartState): Promise<RunResult> {
    const { error } = await run.exited
    run.close()
    if (run.dump) this.#starter.dumps.release(run.dump, true)
    if (params.background) await this.#options.jobs.folders.remove(run.id)
    const fault = directoryFault(start.prepared.cwd)
    const code = (error as NodeJS.ErrnoException | undefined)?.code
    if (fault !== undefined) return notRun(params, fault, this.#options.sessions)
    if (code === 'EACCES') return notRun(params, "can't be entered (EACCES)", this.#options.sessions)
    throw startError(error, this.#options.shell as FoundShell)
  }

  /** Waits for the end, or until the command is to go on as a job. */
  async #attend(
    run: RunningCommand,
    params: RunParams,
    options: { context: CallContext; start: StartState },
  ): Promise<RunResult> {
    const { signal } = options.context
    const cancel = () => void run.stop('cancelled')
    signal.addEventListener('abort', cancel, { once: true })
    const limit = params.timeoutMs === undefined ? undefined : setTimeout(() => void run.stop('timed_out'), params.timeoutMs)
    const soft = params.softLimitMs === undefined ? undefined : setTimeout(() => run.detach(), params.softLimitMs)
    try {
      const exit = await Promise.race([run.finish(), run.detached])
      if (!exit) return await this.#toJob(run, params)
      return await this.#answer(run, params, { exit, start: options.start, away: !options.context.attached() })
    } finally {
      signal.removeEventListener('abort', cancel)
      clearTimeout(limit)
      clearTimeout(soft)
    }
  }

  async #toJob(run: RunningCommand, params: RunParams): Promise<RunResult> {
    const { input = 'none' } = params
    const terminal = input === 'pty' ? [{ at: 0, ...checkSize(params.terminal) }] : undefined
    const job = await this.#options.jobs.adopt(run, { kind: 'command', input, terminal })
    if (params.timeoutMs !== undefined) job.limit(params.timeoutMs)
    if (run.dump) void job.ended.then(() => this.#discard(run))
    run.output.end()
    const output = run.output.result()
    this.#options.onShown(params.session, job.id, output.totalBytes)
    return {
      ...{ status: 'running', durationMs: run.durationMs, output, job: job.id },
      cwd: this.#options.sessions.cwd(params.session),
      notices: params.background
        ? []
        : ['Directory and environment that the command leaves at its end are not carried to the next one.'],
    }
  }

  /** The dump of a job is of no use; it is cleared, since it may hold secrets. */
  #discard(run: RunningCommand): void {
    if (!run.dump) return
    this.#starter.dumps.read(run.dump)
    this.#starter.dumps.release(run.dump, false)
  }

  /** `away`: nobody was there at the end, and the host that comes may be another one, which finds it as a job. */
  async #answer(
    run: RunningCommand,
    params: RunParams,
    options: { exit: ShellExit; start: StartState; away: boolean },
  ): Promise<RunResult> {
    const notices = this.#takeState(run, params, options.start)
    const { exitCode, signal } = options.exit
    if (signal === 'SIGKILL' || exitCode === 137) notices.push(...optional(run.stopReason ? undefined : this.#oom.notice()))
    const kept = await this.#keep(run, params, options.away)
    const leftover = kept && (kept.pids.length > 0 || !options.away) ? kept : undefined
    run.output.end()
    if (run.output.result().omittedBytes > 0) await run.output.toLog()
    else if (run.output.spilled && !kept) await this.#dropLog(run)
    const output = run.output.result()
    if (kept) this.#options.onShown(params.session, kept.job, output.totalBytes)
    if (output.log === undefined || output.logTruncatedAt !== undefined) notices.push(...optional(run.output.logNotice()))
    if (run.unended.length > 0) notices.push(unendedNotice(run.unended))
    if (run.stopReason === 'timed_out') notices.push(...optional(waitingNotice(output, params)))
    if (!kept) this.#options.onFinished(run)
    const stopped = run.stopReason === 'killed' ? 'signaled' : run.stopReason
    const status = stopped ?? (signal === undefined ? (exitCode === undefined ? 'unknown' : 'exited') : 'signaled')
    return {
      ...{ status, durationMs: run.durationMs, output, cwd: this.#options.sessions.cwd(params.session), notices },
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(signal === undefined ? {} : { signal }),
      ...(leftover ? { job: leftover.job, leftover } : {}),
    }
  }

  #takeState(run: RunningCommand, params: RunParams, start: StartState): string[] {
    if (!run.dump) return this.#options.sessions.settle(params.session)
    const raw = this.#starter.dumps.read(run.dump)
    this.#starter.dumps.release(run.dump, raw.startsWith('\x01'))
    return this.#options.sessions.finish(params.session, start, { raw, run: run.id, own: Object.keys(params.env ?? {}) })
  }

  /** Children that are still there become a job of their own, ended by the command's time limit where it had one. */
  async #keep(run: RunningCommand, params: RunParams, away: boolean): Promise<{ job: string; pids: number[] } | undefined> {
    const group = run.pid as number
    const left = run.writers || (groupExists(group) && groupMembers(group).length > 0)
    if (run.stopReason || !(left || away)) return undefined
    const job = await this.#options.jobs.adopt(run, { kind: away ? 'command' : 'leftover', input: 'none' })
    if (params.timeoutMs !== undefined && !params.timeoutIsDefault) job.limit(params.timeoutMs)
    return { job: job.id, pids: await job.pids() }
  }

  async #dropLog(run: RunningCommand): Promise<void> {
    await run.output.discard()
    await rm(this.#options.jobs.folders.directory(run.id), { recursive: true, force: true })
  }
}

function optional(sentence: string | undefined): string[] {
  return sentence === undefined ? [] : [sentence]
}
