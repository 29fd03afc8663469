import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Backend, EnvironmentSpec } from '../../src/backends/backend.ts'
import { createBackends } from '../../src/backends/registry.ts'
import type { GatewayStatus, JobInfo } from '../../src/gateway/protocol.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createManager, type Manager, type ManagerOptions } from '../../src/manager/manager.ts'
import type { Scope } from '../../src/manager/scope.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'
import type { Workspace, WorkspaceOptions } from '../../src/workspace/workspace.ts'

/** What a fake workspace was told, and what it shall say. */
export interface FakeWorkspace extends Workspace {
  inFlight: number
  running: JobInfo[]
  readonly told: string[]
  readonly spec: EnvironmentSpec
  readonly options: WorkspaceOptions
}

/** Workspaces over the real local backend, without any gateway. */
export class FakeOpener {
  readonly built: FakeWorkspace[] = []
  /** Awaited by each build; throw in it to fail one. */
  before: (spec: EnvironmentSpec, options: WorkspaceOptions) => Promise<void> = async () => {}
  /** Awaited by each goodbye. */
  goodbye: () => Promise<void> = async () => {}
  builds = 0

  readonly open = async (backend: Backend, spec: EnvironmentSpec, options: WorkspaceOptions): Promise<Workspace> => {
    this.builds++
    await this.before(spec, options)
    const environment = await backend.provision(spec)
    const told: string[] = []
    const say = async (what: string) => {
      await this.goodbye()
      told.push(what)
    }
    const workspace = {
      id: environment.info.id,
      info: environment.info,
      spec,
      options,
      inFlight: 0,
      running: [] as JobInfo[],
      told,
      shell: { jobs: async () => workspace.running },
      files: {
        workdir: environment.info.workdir,
        stat: async () => ({ type: 'missing' }),
        list: async () => ({ entries: [], truncated: false }),
      },
      status: async () => ({ running: 0, jobs: workspace.running.length, links: 1, nested: 0, rssBytes: 1_000 }) as GatewayStatus,
      reset: () => say('reset'),
      detach: () => say('detach'),
      close: async () => {
        await say('close')
        return { notices: [] }
      },
      destroy: async () => {
        await say('destroy')
        await environment.destroy()
      },
    } as unknown as FakeWorkspace
    this.built.push(workspace)
    return workspace
  }
}

/** A place on disk with managers on it; `remove` ends them and takes it away. */
export function createPlace() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-manager-')))
  const dataDir = join(base, 'data')
  const project = join(base, 'project')
  mkdirSync(project)
  const managers: Manager[] = []
  const destroyed: string[] = []
  const manager = (opener: FakeOpener, options: Partial<ManagerOptions> = {}): Manager => {
    const made = createManager({
      backends: createBackends({ dataDir, runtimeBase: join(base, 'run'), logger: silentLogger }),
      defaultBackend: 'local',
      policy: 'per_agent',
      limits: DEFAULT_LIMITS,
      hostEnv: { HOST: '1', BOTH: 'host' },
      env: { BOTH: 'configured' },
      confine: 'none',
      goodbye: 'end',
      ttlMs: 60_000,
      allowSharedLocal: true,
      logger: silentLogger,
      open: opener.open,
      destroyed: id => void destroyed.push(id),
      ...options,
    })
    managers.push(made)
    return made
  }
  const remove = async () => {
    await Promise.all(managers.map(each => each[Symbol.asyncDispose]()))
    rmSync(base, { recursive: true, force: true })
  }
  return { base, dataDir, project, manager, remove, destroyed }
}

export function scope(user = 'alice', agent = '', session = ''): Scope {
  return { user, agent, session }
}

/** A promise and what settles it. */
export function gate(): { opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}
