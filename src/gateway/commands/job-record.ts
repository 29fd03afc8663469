import { randomBytes } from 'node:crypto'
import { appendFile, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { makeFolders, makeFoldersSync } from '../../lib/make-folders.ts'
import type { CommandStatus, JobInfo } from '../protocol-commands.ts'
import { isSameProcess, machineIds, processStart } from './process-tree.ts'

/** `job.json`: what a later gateway must know of a job, and how it is sure that it means the same process. */
export interface JobRecord {
  id: string
  command: string
  owner: string
  session: string
  kind: JobInfo['kind']
  input: JobInfo['input']
  terminal?: JobInfo['terminal']
  startedAt: string
  process: { pid: number; start: string | undefined } | undefined
  gateway: { instance: string; pid: number; start: string | undefined }
  machine: { boot: string; namespace: string }
  status: CommandStatus
  exitCode?: number
  signal?: string
  endedAt?: string
}

/** What is the same in every record that this process writes. */
export function gatewayFields(instance: string): Pick<JobRecord, 'gateway' | 'machine'> {
  return { gateway: { instance, pid: process.pid, start: processStart(process.pid) }, machine: machineIds() }
}

/** Whether the gateway that wrote the record still runs. */
export function gatewayLives(record: JobRecord, machine: JobRecord['machine']): boolean {
  return sameMachine(record, machine) && isSameProcess(record.gateway.pid, record.gateway.start)
}

/** Whether the record's process still runs, and is that one. */
export function processLives(record: JobRecord, machine: JobRecord['machine']): boolean {
  const recorded = record.process
  return recorded !== undefined && sameMachine(record, machine) && isSameProcess(recorded.pid, recorded.start)
}

/** Whether pids of the record mean anything here. */
export function sameMachine(record: JobRecord, machine: JobRecord['machine']): boolean {
  return record.machine.boot === machine.boot && record.machine.namespace === machine.namespace
}

/** The folders of all jobs, one each, with `job.json`, `log` and `exit`. */
export class JobFolders {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  directory(id: string): string {
    return `${this.root}/${id}`
  }
  log(id: string): string {
    return `${this.root}/${id}/log`
  }
  exitRecord(id: string): string {
    return `${this.root}/${id}/exit`
  }

  /** Makes a job's folder before its start, so that the shell can leave its exit record there. */
  create(id: string): void {
    try {
      makeFoldersSync(this.directory(id), { mode: 0o700 })
    } catch {
      // without it the job still runs; only a later gateway could not learn its exit
    }
  }

  /** Writes the record of a job that begins; its log is there from then on. */
  async begin(record: JobRecord): Promise<void> {
    await this.save(record)
    await appendFile(this.log(record.id), '', { mode: 0o600 })
  }

  /** Writes a record whole or not at all. */
  async save(record: JobRecord): Promise<void> {
    const directory = this.directory(record.id)
    await makeFolders(directory, { mode: 0o700 })
    const temporary = `${directory}/.job-${randomBytes(4).toString('hex')}`
    await writeFile(temporary, `${JSON.stringify(record, null, 1)}\n`, { mode: 0o600 })
    await rename(temporary, `${directory}/job.json`)
  }

  /** The record of a folder; nothing where there is none that can be understood. */
  async load(id: string): Promise<JobRecord | undefined> {
    try {
      const record = JSON.parse(await readFile(`${this.directory(id)}/job.json`, 'utf8')) as JobRecord
      return record.id === id && typeof record.gateway?.pid === 'number' && typeof record.machine?.boot === 'string'
        ? record
        : undefined
    } catch {
      return undefined
    }
  }

  /** The exit code that a job's shell wrote at its end. */
  async exitCode(id: string): Promise<number | undefined> {
    const text = await readFile(this.exitRecord(id), 'latin1').catch(() => '')
    const match = /^(\d{1,3})\n/.exec(text)
    return match ? Number(match[1]) : undefined
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.root).catch(() => [])
    return names.filter(name => /^[0-9a-z]{10}$/.test(name))
  }

  /** Removes a folder without a record, a kept log, once nothing was written to it for `ms`. */
  async removeOld(id: string, ms: number): Promise<void> {
    const newest = await stat(this.log(id)).then(
      found => found.mtimeMs,
      () => undefined,
    )
    if (newest !== undefined && Date.now() - newest > ms) await this.remove(id)
  }

  async remove(id: string): Promise<void> {
    await rm(this.directory(id), { recursive: true, force: true })
  }
}
