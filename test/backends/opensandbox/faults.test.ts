import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, failure, MISSING, onServer, recorder, sh, type World } from './support.ts'

describe.skipIf(MISSING !== undefined)(onServer('opensandbox: faults of the service'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world?.clear())
  afterAll(() => world?.remove())

  test('a wait that is cancelled ends', async () => {
    world.front.faults.add({ match: '^POST /v1/sandboxes$', status: 429, retryAfter: 30 })
    const signal = AbortSignal.timeout(500)
    expect(await failure(world.backend().provision(world.spec('ws-long'), { signal }))).toMatchObject({ code: 'cancelled' })
    expect(await world.sandboxes()).toEqual([])
  })

  test.each([
    [401, 'unauthenticated'],
    [403, 'permission_denied'],
    [422, 'invalid_argument'],
  ])('status %i is %s, said once and not repeated', async (status, code) => {
    world.front.faults.add({ match: '^GET /v1/sandboxes\\?', status, message: 'no' })
    expect(await failure(world.backend().provision(world.spec('ws-no')))).toMatchObject({
      code,
      message: expect.stringContaining(': no'),
    })
    expect(world.front.faults.list()).toEqual([])
    expect(await world.sandboxes()).toEqual([])
  })

  test('a server that is busy or cuts the connection is asked again', async () => {
    world.front.faults.add({ match: '^GET /v1/sandboxes\\?', status: 503, times: 2 })
    world.front.faults.add({ match: '/endpoints/', reset: true })
    world.front.faults.add({ match: '^PATCH ', status: 502 })
    const { info } = await world.backend().provision(world.spec('ws-busy'))
    expect(await world.sandboxes()).toEqual([info.incarnation])
    expect(world.front.faults.list()).toEqual([])
  })

  test.each([
    ['its endpoint', '/endpoints/'],
    ['handing it out', '^PATCH '],
  ])('what fails at %s leaves nothing behind', async (_, match) => {
    world.front.faults.add({ match, status: 500, message: 'broken', times: 20 })
    const error = await failure(world.backend({ readyTimeoutMs: 5_000 }).provision(world.spec('ws-half')))
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('broken') })
    expect(await world.sandboxes()).toEqual([])
  })

  test('what was handed out already is kept when the last look fails, and used by the next call', async () => {
    const lists = { match: '^GET /v1/sandboxes\\?', latencyMs: 0 }
    world.front.faults.add({ ...lists, times: 2 })
    world.front.faults.add({ match: lists.match, status: 401 })
    const marked = await failure(world.backend().provision(world.spec('ws-kept')))
    expect(marked.code).toBe('unauthenticated')
    const left = await world.sandboxes()
    const { info } = await world.backend().provision(world.spec('ws-kept'))
    expect(await world.sandboxes()).toEqual([info.incarnation])
    expect(left.filter(id => id !== info.incarnation)).toEqual([])
  })

  test('lists that lag behind lead no two hosts to two sandboxes', async () => {
    world.front.faults.modes = { listLagMs: 1_000 }
    const options = { settleMs: 3_000 }
    const both = ['one', 'two'].map(() => world.backend(options).provision(world.spec('ws-lag')))
    const [one, two] = await Promise.all(both)
    expect(one?.info.incarnation).toBe(two?.info.incarnation)
    expect(await world.sandboxes()).toEqual([one?.info.incarnation])
  })

  test('a second sandbox that was used is reported and left as it is', async () => {
    const first = await world.backend().provision(world.spec('ws-second'))
    world.front.faults.modes = { listLagMs: 3_600_000 }
    const second = await world.backend().provision(world.spec('ws-second'))
    expect(second.info.incarnation).not.toBe(first.info.incarnation)
    world.front.faults.clear()
    const { logger, lines } = recorder()
    const third = await world.backend({ logger }).provision(world.spec('ws-second'))
    expect(third.info.incarnation).toBe(first.info.incarnation)
    expect(lines.join('\n')).toContain(`has a second sandbox, ${second.info.incarnation}`)
    expect(await world.sandboxes()).toHaveLength(2)
    await third.destroy()
    expect(await world.sandboxes()).toEqual([])
  })

  test('an image that is not there says so', async () => {
    const error = await failure(world.backend({ image: 'localhost:1/no/such:image' }).provision(world.spec('ws-image')))
    expect(error).toMatchObject({ code: 'not_found', hint: expect.stringContaining('opensandbox.image') })
    expect(error.message).toContain('localhost:1/no/such:image')
  })

  test('a main process that ends at once says so, and leaves nothing behind', async () => {
    const backend = world.backend({ entrypoint: ['sh', '-c', 'exit 3'] })
    expect(await failure(backend.provision(world.spec('ws-ends')))).toMatchObject({
      code: 'precondition_failed',
      hint: expect.stringContaining('opensandbox.entrypoint'),
    })
    expect(await world.sandboxes()).toEqual([])
  })

  test('a stream that is cut goes on where it was', async () => {
    await world.backend().provision(world.spec('ws-cut'))
    world.front.faults.add({ match: '^GET /direct/.*/ws', latencyMs: 0, times: 2 })
    world.front.faults.add({ match: '^GET /direct/.*/ws', resetAfterBytes: 20_000, times: 3 })
    const workspace = await world.open('ws-cut', {})
    const said: string[] = []
    const command = 'for i in $(seq 1 5000); do echo line $i; done; echo once >> count; cat count'
    const onOutput = (text: string) => void said.push(text)
    const { output } = await workspace.shell.run({ session: 's', command }, { onOutput })
    expect(output.tail).toMatch(/line 5000\nonce\n$/)
    expect(world.front.faults.list()).toEqual([])
    expect(await sh(workspace, 'cat count')).toBe('once')
    await workspace.close()
  })
})
