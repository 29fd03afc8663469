import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Workspace } from '../../../src/workspace/workspace.ts'
import { createWorld, failure, IS_GIVEN, MISSING, onServer, recorder, sh, type World } from './support.ts'

describe.skipIf(MISSING !== undefined)(onServer('opensandbox: what happens behind our back'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world?.clear())
  afterAll(() => world?.remove())

  const behind = async (deed: string, { info }: Workspace): Promise<void> => {
    const answer = await fetch(`${world.front.url}/__faults/${deed}/${info.incarnation}`, { method: 'POST' })
    expect(answer.status).toBe(200)
  }

  test('a sandbox that somebody paused: the call in flight fails with the reason, the next one resumes it', async () => {
    const workspace = await world.open('ws-paused')
    await sh(workspace, 'echo kept > file; sleep 500 & echo $! > pid')
    const call = failure(sh(workspace, 'sleep 600', { timeoutMs: 600_000 }))
    await new Promise(resolve => setTimeout(resolve, 1_000))
    await behind('pause', workspace)
    expect(await call).toMatchObject({ code: 'environment_lost', message: expect.stringContaining('was paused') })
    expect(await sh(workspace, 'cat file; kill -0 $(cat pid) && echo alive')).toBe('kept\nalive')
    await workspace.close()
  })

  test.skipIf(IS_GIVEN)('a sandbox whose container was killed is left as it is, another one is made', async () => {
    const workspace = await world.open('ws-failed')
    await sh(workspace, 'true')
    const before = workspace.info.incarnation
    const call = failure(sh(workspace, 'sleep 600', { timeoutMs: 600_000 }))
    await new Promise(resolve => setTimeout(resolve, 1_000))
    await behind('kill', workspace)
    expect(await call).toMatchObject({ code: 'environment_gone', message: expect.stringContaining('has failed') })
    expect(await sh(workspace, 'echo again')).toBe('again')
    expect(workspace.info.incarnation).not.toBe(before)
    expect(await world.sandboxes()).toContain(before)
    await workspace.destroy()
    expect(await world.sandboxes()).toEqual([])
  })

  test.skipIf(IS_GIVEN)('a failed sandbox with no other is told as gone, and reported when it is replaced', async () => {
    const { logger, lines } = recorder()
    const backend = world.backend({ logger })
    const { info } = await backend.provision(world.spec('ws-gone'))
    await fetch(`${world.front.url}/__faults/kill/${info.incarnation}`, { method: 'POST' })
    expect(await backend.find('ws-gone')).toMatchObject({ state: 'gone' })
    const next = await backend.provision(world.spec('ws-gone'))
    expect(next.info.ended).toMatch(/^it failed: /)
    expect(lines.join('\n')).toContain(`sandbox ${info.incarnation} of workspace "ws-gone" has failed`)
    expect(await backend.find('ws-gone')).toMatchObject({ state: 'running', incarnation: next.info.incarnation })
  })

  test.skipIf(IS_GIVEN)('a server that is gone for a while: a direct stream goes on, and later calls do', async () => {
    const workspace = await world.open('ws-server')
    await sh(workspace, 'true')
    const call = sh(workspace, 'sleep 3; echo through')
    await world.restart()
    expect(await call).toBe('through')
    expect(await sh(workspace, 'echo after')).toBe('after')
    await workspace.close()
  })
})
