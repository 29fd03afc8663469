import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { BACKENDS, type MatrixBackend } from './backends.ts'
import { type ConnectOptions, connect, type TestClient, type TransportName } from './client.ts'
import { createWorld, type World } from './world.ts'

/** A world with a backend, and clients in it. */
export interface Stage {
  world: World
  backend: MatrixBackend
  connect(options?: ConnectOptions): Promise<TestClient>
  /** Ends what a test left: its clients, and the jobs and files of the workspace. */
  sweep(): Promise<void>
  /** Ends everything, and fails when anything is left that should have gone by itself. */
  end(): Promise<void>
  /** Ends everything by force. */
  dispose(): Promise<void>
}

/** A new world for one test. */
export function createStage(name: string, transport: TransportName): Stage {
  const backend = BACKENDS[name] as MatrixBackend
  const world = createWorld()
  Object.assign(world.env, backend.env(world))
  world.onDispose(() => backend.clear(world))
  const clients: TestClient[] = []
  const closeClients = async () => {
    for (const opened of clients.splice(0)) await opened.close()
  }
  return {
    ...{ world, backend, sweep: closeClients },
    async connect(options = {}) {
      const opened = await connect(world, transport, options)
      clients.push(opened)
      return opened
    },
    async end() {
      await closeClients()
      // A stdio server leaves nothing running once its client has gone, or after the grace time if it was killed.
      if (transport === 'stdio') await world.expectNoProcess(45_000)
    },
    async dispose() {
      // What a server made while it was ending goes too.
      await world.dispose().finally(() => backend.clear(world))
      expect(await backend.left(world), 'containers and volumes of the test that are left').toEqual([])
    },
  }
}

/** A stage that tests use one after the other. */
export interface SharedStage extends Stage {
  /** A test's first client. Over stdio all tests have the same one, whose end waits for that of the stage. */
  borrow(): Promise<TestClient>
}

/** A world whose workspace one client keeps open from test to test. */
export async function createSharedStage(name: string, transport: TransportName): Promise<SharedStage> {
  const stage = createStage(name, transport)
  const keeper = await connect(stage.world, transport)
  await keeper.text('Bash', { command: 'true' }).catch(error => stage.dispose().finally(() => Promise.reject(error)))
  const { http } = keeper
  return {
    ...stage,
    borrow: async () => (http === undefined ? { ...keeper, close: async () => {} } : stage.connect({ server: http })),
    connect({ ...options } = {}) {
      const own = http === undefined || options.args !== undefined || options.env !== undefined
      return stage.connect(own ? options : { server: http, ...options })
    },
    async sweep() {
      await stage.sweep()
      await sweepWorkspaces(keeper)
      const { project } = stage.world
      for (const left of readdirSync(project)) rmSync(join(project, left), { recursive: true, force: true })
    },
    async end() {
      await stage.sweep()
      await keeper.close()
      await stage.end()
    },
  }
}

/** Deletes the workspaces that a test made, and empties the one that all use. */
async function sweepWorkspaces(keeper: TestClient): Promise<void> {
  const list = await keeper.text('workspace_list')
  if (!/^default .*, current\)/m.test(list)) await keeper.text('workspace_use', { workspace: 'default' })
  for (const line of list.split('\n')) {
    const id = / id (ws-\w+)$/.exec(line)?.[1]
    if (id !== undefined && !line.startsWith('default ')) await keeper.text('workspace_delete', { workspace: id, confirm: true })
  }
  await keeper.text('workspace_reset', { confirm: true })
}
