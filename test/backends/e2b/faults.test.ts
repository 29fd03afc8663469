import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createWorld, failure, MISSING, onStandIn, sh, type World } from './support.ts'

const CREATE = 'POST /v2/sandboxes$'

describe.skipIf(MISSING !== '')(onStandIn('e2b: a service that misbehaves'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  const provision = (id: string, more: { signal?: AbortSignal } = {}) => world.backend().provision(world.spec(id), more)

  test.each([
    ['401', { status: 401 }, 'unauthenticated'],
    ['403', { status: 403 }, 'permission_denied'],
    ['404 for the template', { status: 404, message: "template 'base' not found" }, 'not_found'],
    ['429 without end', { status: 429, times: 9 }, 'limit_exceeded'],
    ['500', { status: 500 }, 'unavailable'],
    ['a connection that is reset', { reset: true }, 'unavailable'],
  ])('a creation answered with %s is a typed error with a remedy, and leaves nothing', async (_, rule, code) => {
    world.fault({ match: CREATE, ...rule })
    const error = await failure(provision('ws-create'))
    expect(error).toMatchObject({ code, hint: expect.stringMatching(/.{10}/) })
    expect(error.message).not.toContain(world.account.apiKey)
    expect(await world.sandboxes()).toEqual([])
  })

  test('a rate limit is waited for as told; a busy service is asked again', async () => {
    world.fault({ match: CREATE, status: 429, retryAfter: 1, times: 2 })
    world.fault({ match: 'GET /v2/sandboxes', status: 503, times: 2 })
    await provision('ws-wait')
    expect(world.faults.list()).toEqual([])
    expect(await world.sandboxes()).toHaveLength(1)
  })

  test('a creation whose answer is lost is found, not repeated; one that makes two keeps one', async () => {
    world.fault({ match: CREATE, loseAnswer: true })
    const found = await provision('ws-lost')
    expect(await world.sandboxes()).toMatchObject([{ sandboxId: found.info.incarnation }])

    world.faults.modes = { duplicateCreate: true }
    const one = await provision('ws-twice')
    world.faults.modes = {}
    const left = (await world.sandboxes()).filter(({ metadata }) => metadata['atelier.id'] === 'ws-twice')
    expect(left).toMatchObject([{ sandboxId: one.info.incarnation }])
  })

  test('an abort on the way, and a step that fails after the creation, leave nothing', async () => {
    const early = new AbortController()
    world.fault({ match: CREATE, latencyMs: 500 })
    const aborted = failure(provision('ws-abort', { signal: early.signal }))
    await vi.waitFor(() => expect(world.faults.list()).toEqual([]), 20_000)
    early.abort()
    expect(await aborted).toMatchObject({ code: 'cancelled' })
    // The service makes it all the same; it goes as soon as it is there.
    const made = async () => (await world.sandboxes()).length
    await vi.waitFor(async () => expect(await made()).toBe(1), { timeout: 20_000, interval: 20 })
    await vi.waitFor(async () => expect(await made()).toBe(0), { timeout: 20_000, interval: 100 })
    const controller = new AbortController()
    world.fault({ match: 'POST /process.Process/Start', latencyMs: 500 })
    setTimeout(() =>
      vi.waitFor(async () => expect(await world.sandboxes()).toHaveLength(1), 20_000).then(() => controller.abort()),
    )
    expect(await failure(provision('ws-abort', { signal: controller.signal }))).toMatchObject({ code: 'cancelled' })
    await vi.waitFor(async () => expect(await world.sandboxes()).toEqual([]), { timeout: 20_000, interval: 200 })

    const denied = world.backend({ workdir: '/proc/nowhere' }).provision(world.spec('ws-denied'))
    expect(await failure(denied)).toMatchObject({ code: 'precondition_failed' })
    expect(await world.sandboxes()).toEqual([])
  })

  test('a look-up that fails throws: it never means that there is none', async () => {
    world.fault({ match: 'GET /v2/sandboxes', status: 500, times: 9 })
    expect(await failure(world.backend().find('ws-find'))).toMatchObject({ code: 'unavailable' })
  })

  test.each([
    ['output', { match: 'POST /process.Process/Start', resetAfterBytes: 60_000 }],
    ['input', { match: 'POST /process.Process/StreamInput', resetAfterMs: 2_500 }],
  ])('a stream of %s that is reset in its midst is taken up without loss or repetition', async (_, rule) => {
    const workspace = await world.open('ws-reset')
    await sh(workspace, 'true')
    await workspace.detach()
    world.fault(rule)
    const again = await world.open('ws-reset')
    const numbers = Array.from({ length: 40 }, (_, at) => String(at))
    for (const number of numbers) await sh(again, `echo ${number} >> seen; seq 1 2000 | tail -n 1`)
    await vi.waitFor(() => expect(world.faults.list()).toEqual([]), 20_000)
    expect(await sh(again, 'cat seen')).toBe(numbers.join('\n'))
    expect(await sh(again, 'seq 1 6000 | sha256sum')).toBe(await sh(again, 'seq 1 6000 > f; sha256sum < f'))
  })

  test('a stream that goes silent without an end is noticed by its heart, and taken up', async () => {
    const workspace = await world.open('ws-silent')
    await sh(workspace, 'echo before > file')
    await workspace.detach()
    world.fault({ match: 'POST /process.Process/Start', times: 99, muteAfterMs: 4_000 })
    const again = await world.open('ws-silent')
    expect(await sh(again, 'cat file')).toBe('before')
    world.faults.clear()
    await new Promise(resolve => setTimeout(resolve, 4_500))
    expect(await sh(again, 'echo after >> file; cat file')).toBe('before\nafter')
  }, 240_000)

  test('a write that arrives after its time-out is not done twice', async () => {
    world.fault({ match: 'POST /process.Process/StreamInput', status: 501, times: 99 })
    const workspace = await world.open('ws-late', { requestTimeoutMs: 3_000 })
    for (let number = 0; number < 10; number += 1) {
      if (number === 4) world.faults.add({ match: 'POST /process.Process/SendInput', latencyMs: 6_000 })
      await sh(workspace, `echo ${number} >> seen`)
    }
    expect(await sh(workspace, 'cat seen')).toBe('0\n1\n2\n3\n4\n5\n6\n7\n8\n9')
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

  test('paused behind our back: the call in flight says so, the next one resumes it as it was', async () => {
    const workspace = await world.open('ws-paused')
    await sh(workspace, 'echo kept > file')
    const inFlight = failure(sh(workspace, 'sleep 4; echo late > late'))
    await new Promise(resolve => setTimeout(resolve, 500))
    await world.behind('pause', workspace.info.incarnation ?? '')
    expect(await inFlight).toMatchObject({ code: 'environment_lost', message: expect.stringContaining('was paused') })
    expect(await sh(workspace, 'cat file')).toBe('kept')
    // What ran goes on.
    await vi.waitFor(async () => expect(await sh(workspace, 'cat late')).toBe('late'), { timeout: 20_000, interval: 500 })
  })

  test('killed behind our back: the call in flight says so, the next one makes a new one and says what is lost', async () => {
    const workspace = await world.open('ws-killed')
    await sh(workspace, 'echo gone > file')
    const inFlight = failure(sh(workspace, 'sleep 30'))
    await new Promise(resolve => setTimeout(resolve, 500))
    await world.behind('kill', workspace.info.incarnation ?? '')
    expect(await inFlight).toMatchObject({ code: 'environment_gone', message: expect.stringContaining('its files are gone') })
    expect(await sh(workspace, 'ls file 2>&1')).toContain('No such file')
    expect(workspace.takeNotices().join()).toContain('has been made again')
    expect(await world.sandboxes()).toHaveLength(1)
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
