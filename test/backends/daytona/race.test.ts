import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createWorld, MISSING, onStandIn, sh, type World } from './support.ts'

const HOST = new URL('host-main.ts', import.meta.url).href
const LOADER = new URL('../../../scripts/typescript-loader.mjs', import.meta.url).href
const START = `import{register}from'node:module';register(${JSON.stringify(LOADER)});await import(${JSON.stringify(HOST)})`

describe.skipIf(MISSING !== '')(onStandIn('daytona: hosts that come at once, and hosts that die'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  function host(id: string): ChildProcess & { said: Promise<string> } {
    const args = ['--input-type=module', '--eval', START, world.account.apiUrl, id, world.gatewayScript]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    return Object.assign(child, { said: text(child.stdout) })
  }

  test('ten calls at once end with the same sandbox and leave no other', async () => {
    const hosts = Array.from({ length: 10 }, () => world.backend())
    const all = await Promise.all(hosts.map(each => each.provision(world.spec('ws-ten'))))
    const ids = new Set(all.map(({ info }) => info.incarnation))
    expect(ids.size).toBe(1)
    expect(await world.sandboxes()).toMatchObject([{ id: [...ids][0], state: 'started' }])
  })

  test('ten processes at once work in one sandbox, and nothing that they wrote is lost', async () => {
    const hosts = Array.from({ length: 10 }, () => host('ws-processes'))
    const said = await Promise.all(hosts.map(({ said }) => said))
    expect(new Set(said).size).toBe(1)
    expect(await world.sandboxes()).toHaveLength(1)
    const workspace = await world.open('ws-processes')
    const wrote = (await sh(workspace, 'cat hosts')).split('\n').sort()
    expect(wrote).toEqual(hosts.map(({ pid }) => String(pid)).sort())
    await workspace.close()
  }, 300_000)

  test.each([
    ['looks for it', 'GET /api/sandbox/atelier'],
    ['creates it', 'POST /api/sandbox$'],
    ['waits for it', 'GET /api/sandbox/[0-9a-f-]{36}'],
    ['prepares it', 'process/execute'],
    ['puts the gateway in', 'files/bulk-upload'],
    ['opens a terminal', 'POST .*/process/pty$'],
    ['connects to it', '/connect'],
  ])('a host that is killed while it %s leaves nothing that the next one can’t use', async (_, match) => {
    world.fault({ match, latencyMs: 1_000 })
    const doomed = host('ws-killed')
    await vi.waitFor(() => expect(world.faults.list()).toEqual([]), { timeout: 60_000, interval: 20 })
    doomed.kill('SIGKILL')
    await once(doomed, 'exit')
    const workspace = await world.open('ws-killed')
    expect(await sh(workspace, 'echo fine')).toBe('fine')
    expect(await world.sandboxes()).toMatchObject([{ id: workspace.info.incarnation }])
    await workspace.destroy()
    expect(await world.sandboxes()).toEqual([])
  })
})
