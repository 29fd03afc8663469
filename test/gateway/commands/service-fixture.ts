import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CommandService,
  type CommandServiceOptions,
  createCommandService,
} from '../../../src/gateway/commands/command-service.ts'
import type { CallContext } from '../../../src/gateway/dispatch.ts'
import type { JobInfo, JobReadResult, RunParams, RunResult } from '../../../src/gateway/protocol.ts'

/** A service in a directory of its own, with short calls for tests. */
export interface Fixture {
  directory: string
  workdir: string
  jobsDir: string
  service: CommandService
  run(command: string, params?: Partial<RunParams>, context?: Partial<CallContext>): Promise<RunResult>
  read(id: string, params?: { offset?: number; waitMs?: number; filter?: string; session?: string }): Promise<JobReadResult>
  job(id: string): Promise<JobInfo>
  /** Waits until the job is over. */
  over(id: string): Promise<JobInfo>
  /** Another service over the same directories. */
  again(options?: Partial<CommandServiceOptions>): CommandService
  close(): Promise<void>
}

export const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root', LANG: 'C.UTF-8', USER: 'root' }

export function callContext(more: Partial<CallContext> = {}): CallContext {
  return {
    link: { id: 'link1', owner: 'owner1', env: ENV },
    signal: new AbortController().signal,
    attached: () => true,
    sendable: () => 0,
    send: async () => {},
    input: (async function* () {})(),
    onDetach: () => {},
    ...more,
  }
}

export async function fixture(options: Partial<CommandServiceOptions> = {}): Promise<Fixture> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'atelier-commands-')))
  const base: CommandServiceOptions = {
    runtimeDir: join(directory, 'run'),
    jobsDir: join(directory, 'root', '.atelier', 'jobs'),
    workdir: directory,
    instance: 'test',
    jobMaxLifeMs: 3_600_000,
    logMaxBytes: 1024 ** 3,
    notify: () => {},
    log: () => {},
  }
  const services: CommandService[] = []
  const make = (more: Partial<CommandServiceOptions>) => {
    const service = createCommandService({ ...base, ...options, ...more })
    services.push(service)
    return service
  }
  const service = make({})
  const read: Fixture['read'] = (id, params = {}) =>
    service.handlers['job.read']({ id, session: 's', headBytes: 15_000, tailBytes: 15_000, ...params }, callContext())
  const job = async (id: string) => (await read(id, { session: 'peek', offset: 0 })).job
  return {
    directory,
    workdir: directory,
    jobsDir: base.jobsDir,
    service,
    run: (command, params = {}, context = {}) =>
      service.handlers['command.run'](
        { session: 's', command, headBytes: 15_000, tailBytes: 15_000, ...params },
        callContext(context),
      ),
    read,
    job,
    async over(id) {
      for (let i = 0; i < 600; i++) {
        const info = await job(id)
        if (info.status !== 'running') return info
        await new Promise(resolve => setTimeout(resolve, 25))
      }
      throw new Error(`job ${id} did not end`)
    },
    again: (more = {}) => make(more),
    async close() {
      for (const each of services) {
        await each.endAll('test over')
        await each.dispose()
      }
      await rm(directory, { recursive: true, force: true })
    },
  }
}
