import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, failure, MISSING, onStandIn, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onStandIn('e2b: a service that misbehaves'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  const provision = (id: string, more: { signal?: AbortSignal } = {}) => world.backend().provision(world.spec(id), more)

  test('a step that fails after the creation leaves nothing', async () => {
    const denied = world.backend({ workdir: '/proc/nowhere' }).provision(world.spec('ws-denied'))
    expect(await failure(denied)).toMatchObject({ code: 'precondition_failed' })
    expect(await world.sandboxes()).toEqual([])
  })

  test('a rate limit that asks to wait for longer than a request may take is waited for all the same', async () => {
    world.fault({ match: 'GET /v2/sandboxes', status: 429, retryAfter: 4 })
    const started = performance.now()
    expect(await world.backend({ requestTimeoutMs: 3_000 }).find('ws-limit')).toBeUndefined()
    expect(performance.now() - started).toBeGreaterThan(3_900)
  })

  test.each([
    ['is refused', { status: 501 }],
    ['is swallowed', { muteAfterMs: 0, latencyMs: 15_000 }],
  ])('where the stream of input %s, each write is a request of its own', async (_, rule) => {
    world.fault({ match: 'POST /process.Process/StreamInput', ...rule, times: 99 })
    const workspace = await world.open('ws-input')
    for (const word of ['one', 'two', 'three']) expect(await sh(workspace, `echo ${word}`)).toBe(word)
    expect(await sh(workspace, `wc -c <<'END'\n${'x'.repeat(300_000)}\nEND`)).toBe('300001')
    // It is tried once.
    expect(world.faults.list()).toMatchObject([{ left: 98 }])
  })

  test('a program inside that does not answer for a moment is not taken for a sandbox that is gone', async () => {
    const environment = await provision('ws-blip')
    world.fault({ match: 'POST /process.Process/Start', status: 503 })
    expect(await failure(environment.exec(['true']))).toMatchObject({ code: 'unavailable' })
    expect((await environment.exec(['true'])).exitCode).toBe(0)
  })

  test('paused by somebody before the close, it is closed all the same', async () => {
    const workspace = await world.open('ws-closed')
    await sh(workspace, 'true')
    await world.behind('pause', workspace.info.incarnation ?? '')
    await workspace.close()
    expect(await world.sandboxes()).toMatchObject([{ state: 'paused' }])
  })
})
