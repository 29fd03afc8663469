import { statfs } from 'node:fs/promises'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Notify } from '../dispatch.ts'
import { startForwarder } from './forwarder.ts'
import { Job } from './job.ts'
import { gatewayFields, gatewayLives, JobFolders, type JobRecord, processLives, sameMachine } from './job-record.ts'
import { processStart } from './process-tree.ts'
import { reopenInput } from './pty-input.ts'
import type { RunningCommand } from './running-command.ts'
import type { FoundShell } from './shell-finder.ts'
import type { MarkedProcesses } from './tree-end.ts'

const KEEP_MS = 24 * 3600 * 1000
const KEEP_COUNT = 100
const SWEEP_MS = 3600 * 1000
/** Link of jobs that no link of this gateway started. */
const NO_LINK = ''

export interface JobTableOptions {
  jobsDir: string
  runtimeDir: string
  instance: string
  maxLifeMs: number
  logMaxBytes: number
  shell: FoundShell | null
  marked: MarkedProcesses
  notify: Notify
  log(line: string): void
}

/** All jobs of this gateway, running and kept; makes them, finds those of a dead gateway, and ends them. */
export class JobTable {
  readonly folders: JobFolders
  readonly #options: JobTableOptions
  readonly #jobs = new Map<string, Job>()
  readonly #identity: ReturnType<typeof gatewayFields>
  readonly #sweeper: NodeJS.Timeout

  constructor(options: JobTableOptions) {
    this.#options = options
    this.folders = new JobFolders(options.jobsDir)
    this.#identity = gatewayFields(options.instance)
    this.#sweeper = setInterval(() => void this.#sweep(), SWEEP_MS).unref()
  }

  get running(): Job[] {
    return [...this.#jobs.values()].filter(job => job.running)
  }
  get all(): Job[] {
    return [...this.#jobs.values()]
  }

  get(id: string): Job {
    const job = this.#jobs.get(id)
    if (job) return job
    const running = this.running.map(other => other.id)
    throw new WorkspaceError('not_found', `There is no job ${JSON.stringify(id)}.`, {
      hint: running.length > 0 ? `Running jobs: ${running.join(', ')}.` : 'No job is running.',
    })
  }

  /** Makes a running command, or what it left behind, a job that needs this process no more. */
  async adopt(run: RunningCommand, as: Pick<JobRecord, 'kind' | 'input' | 'terminal'>): Promise<Job> {
    const record: JobRecord = {
      ...{ id: run.id, command: run.command, owner: run.owner.owner, session: run.owner.session, ...as },
      startedAt: run.startedAt.toISOString(),
      process: run.pid === undefined ? undefined : { pid: run.pid, start: processStart(run.pid) },
      ...this.#identity,
      status: 'running',
    }
    // a full disk costs the record and the log, never the command
    await this.folders.begin(record).catch(error => this.#options.log(`job ${record.id}: no record: ${String(error)}`))
    const { logged } = await this.#forward(run)
    const exited = as.kind === 'command' ? run.exited : undefined
    const job = this.#add(record, { link: run.owner.link, input: run.takeInput(), exited, logged })
    job.limit(this.#options.maxLifeMs)
    void job.watch()
    void this.#changed(job)
    void this.prune()
    return job
  }

  /** Lists processes that a finished command left behind unseen, in a session of their own. */
  async adoptStray(run: Pick<RunningCommand, 'id' | 'command' | 'owner' | 'startedAt'>): Promise<Job> {
    const record: JobRecord = {
      ...{
        id: run.id,
        command: run.command,
        owner: run.owner.owner,
        session: run.owner.session,
        kind: 'leftover',
        input: 'none',
      },
      startedAt: run.startedAt.toISOString(),
      process: undefined,
      ...this.#identity,
      status: 'running',
    }
    const job = this.#add(record, { link: run.owner.link })
    await this.folders.save(record)
    job.limit(this.#options.maxLifeMs)
    void job.watch()
    return job
  }

  /** Takes over the jobs that a dead gateway left in the folders. */
  async adoptAll(): Promise<void> {
    for (const id of await this.folders.list()) {
      const record = await this.folders.load(id)
      if (!record) await this.folders.removeOld(id, KEEP_MS)
      if (!record || this.#jobs.has(id) || gatewayLives(record, this.#identity.machine)) continue
      await this.#adoptRecord(record)
    }
    await this.prune()
  }

  /** Removes finished jobs that are old or too many. */
  async prune(): Promise<void> {
    const done = this.all.filter(job => !job.running).sort((a, b) => endTime(b) - endTime(a))
    for (const [index, job] of done.entries()) {
      if (index >= KEEP_COUNT || Date.now() - endTime(job) > KEEP_MS) await this.forget(job)
    }
  }

  /** Forgets all jobs and removes every folder. */
  async clear(): Promise<void> {
    for (const job of this.all) await this.forget(job)
    for (const id of await this.folders.list()) await this.folders.remove(id)
  }

  async forget(job: Job): Promise<void> {
    this.#jobs.delete(job.id)
    await this.folders.remove(job.id)
  }

  /** Stops watching all jobs; they go on. */
  abandon(): void {
    clearInterval(this.#sweeper)
    for (const job of this.#jobs.values()) job.abandon()
  }

  /** Removes kept logs without a job, and jobs, that are old. */
  async #sweep(): Promise<void> {
    try {
      for (const id of await this.folders.list()) if (!(await this.folders.load(id))) await this.folders.removeOld(id, KEEP_MS)
      await this.prune()
    } catch (error) {
      this.#options.log(`old logs were not removed: ${String(error)}`)
    }
  }

  async #adoptRecord(found: JobRecord): Promise<void> {
    const { machine } = this.#identity
    const alive = processLives(found, machine)
    // the pid of a dead process may be another's by now; its children are still found by their mark
    const process = alive ? found.process : undefined
    const record = { ...found, ...this.#identity, process }
    const typed = alive && found.input === 'pty' && found.status === 'running'
    const input = typed ? reopenInput(this.#options.runtimeDir, found.id) : undefined
    const job = this.#add(record, { link: NO_LINK, input })
    if (!job.running) return
    await this.folders.save(record)
    if (!alive && (!sameMachine(found, machine) || (await job.pids()).length === 0)) return job.finish()
    job.limit(this.#options.maxLifeMs)
    void job.watch()
  }

  #add(record: JobRecord, more: Pick<ConstructorParameters<typeof Job>[0], 'link' | 'input' | 'exited' | 'logged'>): Job {
    const { marked } = this.#options
    const job = new Job({ ...more, record, folders: this.folders, marked, onChange: changed => void this.#changed(changed) })
    this.#jobs.set(job.id, job)
    return job
  }

  async #forward(run: RunningCommand): Promise<{ logged: Promise<void> }> {
    const logPath = this.folders.log(run.id)
    const maxBytes = await this.#logLimit()
    const fd = await run.release()
    return { logged: startForwarder(fd, { logPath, maxBytes, shell: this.#options.shell as FoundShell }) }
  }

  async #logLimit(): Promise<number> {
    const disk = await statfs(this.folders.root).catch(() => undefined)
    return Math.min(this.#options.logMaxBytes, disk ? Math.floor(disk.bavail * disk.bsize * 0.5) : Number.POSITIVE_INFINITY)
  }

  async #changed(job: Job): Promise<void> {
    try {
      this.#options.notify('job.changed', { job: await job.info() })
    } catch (error) {
      this.#options.log(`job ${job.id}: its news could not be sent: ${String(error)}`)
    }
  }
}

function endTime(job: Job): number {
  return new Date(job.record.endedAt ?? job.record.startedAt).getTime()
}
