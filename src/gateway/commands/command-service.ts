import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Handlers, LinkContext, Notify } from '../dispatch.ts'
import type { JobInfo } from '../protocol-commands.ts'
import { endAbandoned, removeLeftFiles } from './abandoned.ts'
import { CommandRunner } from './command-runner.ts'
import { HARMLESS } from './job.ts'
import { writeInput } from './job-input.ts'
import { JobReader } from './job-reader.ts'
import { JobTable } from './job-table.ts'
import type { HolderName } from './pty-holder.ts'
import { checkSize } from './pty-size.ts'
import { resizeTerminal } from './pty-terminal.ts'
import type { Owner, RunningCommand } from './running-command.ts'
import { Sessions } from './sessions.ts'
import { type FoundShell, findShell } from './shell-finder.ts'
import { Strays } from './strays.ts'
import { MarkedProcesses } from './tree-end.ts'

export interface CommandServiceOptions {
  /** Private directory (0700) with a short path, for named pipes and state dumps. */
  runtimeDir: string
  /** Where jobs have their folders; made when first needed. */
  jobsDir: string
  workdir: string
  instance: string
  jobMaxLifeMs: number
  logMaxBytes: number
  notify: Notify
  log(line: string): void
  shellPath?: string
  /** What may hold a terminal; absent: whatever is there. */
  ptyHolders?: readonly HolderName[]
}

/** Whose commands and jobs are meant; absent fields match all. */
export interface Selection {
  owner?: string
  link?: string
}

/** Everything that runs commands in a gateway. */
export interface CommandService {
  readonly handlers: Pick<Handlers, 'command.run' | 'job.list' | 'job.read' | 'job.input' | 'job.kill'>
  /** Drops a session's shell state and read positions. */
  forgetSession(key: string): void
  /** Takes over jobs of a dead gateway, and ends what else it left running. */
  adoptJobs(): Promise<void>
  /** Foreground commands of a link that was lost go on as jobs. */
  linkLost(linkId: string): void
  /** Jobs of a lost link now belong to `to`. */
  inherit(from: string, to: LinkContext): void
  /** Ends what is selected when it comes to it; gives how many commands and jobs that were. */
  endOwner(select: () => Selection): Promise<number>
  endAll(reason: string): Promise<number>
  /** Ends everything, and forgets all sessions and finished jobs. */
  reset(): Promise<number>
  /** Foreground commands under way. */
  readonly running: number
  /** Jobs that run. */
  readonly jobs: number
  jobsOf(owner: string): Promise<JobInfo[]>
  shell(): FoundShell | null
  /** Ends foreground commands and lets go of jobs, which go on by themselves. */
  dispose(): Promise<void>
}

const KILL_WAIT_MS = 2000

/** Makes the service; nothing is started or written before the first command. */
export function createCommandService(options: CommandServiceOptions): CommandService {
  const shell = findShell(options.shellPath)
  const marked = new MarkedProcesses()
  const sessions = new Sessions(options.workdir, shell?.kind ?? 'sh')
  const jobs = new JobTable({ ...options, maxLifeMs: options.jobMaxLifeMs, shell, marked })
  const strays = new Strays(jobs, marked)
  const runner = new CommandRunner({
    ...options,
    shell,
    sessions,
    jobs,
    marked,
    onFinished: run => strays.note(run),
    onShown: (...shown) => reader.startAfter(...shown),
  })
  const reader = new JobReader(jobs, options.logMaxBytes)
  const matching = (selection: Selection) => (run: RunningCommand) => matches(run.owner, selection)

  async function end(select = (): Selection => ({})): Promise<number> {
    await strays.find()
    const selection = select()
    const runs = [...runner.running.values()].filter(matching(selection))
    const ended = jobs.running.filter(job => matches({ ...job.record, link: job.link }, selection))
    await Promise.all([...runs.map(run => run.stop('killed')), ...ended.map(job => job.stop('killed'))])
    return runs.length + ended.length
  }

  /** A shell leaves its dump when it ends: what a killed gateway left is cleared up behind each of its shells. */
  async function endOthers(): Promise<void> {
    const adopted = new Map(jobs.running.map(job => [job.id, job]))
    const clear = () => {
      removeLeftFiles(options.runtimeDir)
      runner.clearInputs(id => jobs.running.some(job => job.id === id))
    }
    try {
      const count = await endAbandoned(marked, { ...options, isJob: run => adopted.has(run) })
      if (count > 0) options.log(`ended ${count} commands of a gateway that was killed`)
    } catch (error) {
      options.log(`commands of a gateway that was killed: ${String(error)}`)
    }
    clear()
    for (const job of adopted.values()) void job.ended.then(clear)
  }

  async function list(owner?: string): Promise<JobInfo[]> {
    await Promise.all([...runner.running.values()].filter(run => run.leaving).map(run => run.closed))
    await strays.find()
    return Promise.all(jobs.all.filter(job => owner === undefined || job.record.owner === owner).map(job => job.info()))
  }

  if (shell) runner.warm()
  return {
    handlers: {
      'command.run': (params, context) => runner.run(params, context),
      'job.list': async () => ({ jobs: await list() }),
      'job.read': (params, context) => reader.read(params, context.signal),
      'job.input': (params, context) =>
        writeInput(jobs.get(params.id), params, {
          resize: (job, size) => resizeTerminal(job, jobs.folders, checkSize(size)),
          wait: (job, wait) => reader.waitForScreen(job, { ...wait, signal: context.signal }),
          seen: (...shown) => reader.startAfter(...shown),
        }),
      'job.kill': params => kill(jobs, params),
    },
    forgetSession(key) {
      sessions.forget(key)
      runner.forget(key)
      reader.forgetSession(key)
    },
    async adoptJobs() {
      await jobs.adoptAll()
      void endOthers()
    },
    linkLost(linkId) {
      for (const run of runner.running.values()) if (run.owner.link === linkId) run.detach()
    },
    inherit(from, to) {
      for (const run of runner.running.values()) if (run.owner.link === from) run.owner.link = to.id
      for (const job of jobs.all) if (job.link === from || (job.link === '' && job.record.owner === to.owner)) job.link = to.id
    },
    endOwner: end,
    async endAll(reason) {
      const count = await end()
      if (count > 0) options.log(`ended ${count} commands and jobs: ${reason}`)
      return count
    },
    async reset() {
      const count = await end()
      sessions.clear()
      runner.forget()
      strays.clear()
      await jobs.clear()
      return count
    },
    get running() {
      return runner.running.size
    },
    get jobs() {
      return jobs.running.length
    },
    jobsOf: owner => list(owner),
    shell: () => shell,
    async dispose() {
      await Promise.all([...runner.running.values()].map(run => run.stop('killed')))
      jobs.abandon()
      runner.dispose()
    },
  }
}

function matches(owner: Pick<Owner, 'owner' | 'link'>, selection: Selection): boolean {
  return (selection.owner ?? owner.owner) === owner.owner && (selection.link ?? owner.link) === owner.link
}

async function kill(jobs: JobTable, params: { id: string; signal?: string }): Promise<JobInfo> {
  const job = jobs.get(params.id)
  if (params.signal === undefined) {
    await job.stop('killed')
    return job.info()
  }
  const upper = params.signal.toUpperCase()
  const name = (upper.startsWith('SIG') ? upper : `SIG${upper}`) as NodeJS.Signals
  if (!(name in constants.signals)) {
    throw new WorkspaceError('invalid_argument', `There is no signal ${JSON.stringify(params.signal)}.`, {
      hint: 'Use a name as SIGTERM, SIGINT or SIGKILL.',
    })
  }
  if (job.running) {
    await job.signal(name)
    if (!HARMLESS.has(name)) await Promise.race([job.ended, sleep(KILL_WAIT_MS, undefined, { ref: false })])
  }
  return job.info()
}
