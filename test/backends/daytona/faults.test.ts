import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createWorld, failure, MISSING, onStandIn, sh, type World } from './support.ts'

const CREATE = 'POST /api/sandbox$'

describe.skipIf(MISSING !== '')(onStandIn('daytona: a service that misbehaves'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  const provision = (id: string, more: { signal?: AbortSignal } = {}) => world.backend().provision(world.spec(id), more)
  const nothingLeft = () =>
    vi.waitFor(async () => expect(await world.sandboxes()).toEqual([]), { timeout: 20_000, interval: 200 })

  test.each([
    ['403 for a quota', { status: 403, message: 'Total memory quota exceeded' }, 'limit_exceeded'],
    ['400 for the snapshot', { status: 400, message: 'Snapshot x not found' }, 'invalid_argument'],
    ['connections that are reset', { reset: true, times: 9 }, 'unavailable'],
  ])('a creation answered with %s is a typed error with a remedy, and leaves nothing', async (_, rule, code) => {
    world.fault({ match: CREATE, ...rule })
    const error = await failure(provision('ws-create'))
    expect(error).toMatchObject({ code, hint: expect.stringMatching(/.{10}/) })
    expect(error.message).not.toContain(world.account.apiKey)
    await nothingLeft()
  })

  test('a limit that is met in the midst of a list is waited for, and the list is whole', async () => {
    await Promise.all([provision('ws-a'), provision('ws-b')])
    world.fault({ match: 'GET /api/sandbox.*limit', status: 500 })
    world.fault({ match: String.raw`GET /api/sandbox\?`, status: 429, retryAfter: 1 })
    const ids = []
    for await (const { id } of world.backend().list({})) ids.push(id)
    expect(ids.sort()).toEqual(['ws-a', 'ws-b'])
  })

  test('an image that is not there is a typed error that quotes the service, and leaves nothing', async () => {
    const backend = world.backend({ image: 'no-such-image:nowhere' })
    const error = await failure(backend.provision(world.spec('ws-image')))
    expect(error).toMatchObject({ code: 'precondition_failed', hint: expect.stringContaining('daytona.image') })
    expect(error.message).toContain('no-such-image')
    await nothingLeft()
    expect(await failure(world.backend({ resources: { cpu: 2 } }).provision(world.spec('ws-size')))).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('daytona.resources'),
    })
  })

  test('what nobody could build before is removed, and made anew', async () => {
    await world.client
      .create({ image: 'no-such-image:nowhere', name: 'atelier-ws-unbuilt', labels: await labels('ws-unbuilt') })
      .catch(() => {})
    expect(await world.sandboxes()).toMatchObject([{ state: 'build_failed' }])
    const { info } = await provision('ws-unbuilt')
    expect(await world.sandboxes()).toMatchObject([{ id: info.incarnation, state: 'started' }])
  })

  /** Labels as another host would have written them. */
  async function labels(id: string): Promise<Record<string, string>> {
    const { info } = await world.backend({ namespace: 'x' }).provision(world.spec(id))
    const made = await world.client.get(info.incarnation ?? '')
    await made.delete(60, true)
    return { ...made.labels, 'atelier.namespace': '' }
  }

  test('an abort while it starts leaves nothing', async () => {
    world.fault({ match: 'GET /api/sandbox/[0-9a-f-]{36}', latencyMs: 2_000 })
    const controller = new AbortController()
    const made = failure(provision('ws-abort', { signal: controller.signal }))
    await vi.waitFor(() => expect(world.faults.list()).toEqual([]), { timeout: 20_000, interval: 10 })
    controller.abort()
    expect(await made).toMatchObject({ code: 'cancelled' })
    await nothingLeft()
  })

  test('a preparation that fails takes back what this call made, and nothing that was there before', async () => {
    const denied = () => world.backend({ workdir: '/proc/nowhere' }).provision(world.spec('ws-denied'))
    expect(await failure(denied())).toMatchObject({ code: 'permission_denied', hint: expect.stringContaining('daytona.workdir') })
    await nothingLeft()
    await provision('ws-there')
    world.fault({ match: 'process/execute', status: 500, times: 9 })
    expect(await failure(provision('ws-there'))).toMatchObject({ code: 'unavailable' })
    world.faults.clear()
    expect(await world.sandboxes()).toMatchObject([{ name: 'atelier-ws-there', state: 'started' }])
  })

  test('a listing that fails throws: it never means that there is none', async () => {
    world.fault({ match: 'GET /api/sandbox', status: 500, times: 9 })
    const listed = async () => {
      for await (const _ of world.backend().list({})) throw new Error('nothing is there')
    }
    expect(await failure(listed())).toMatchObject({ code: 'unavailable' })
  })

  test('an address where nobody listens is a typed error', async () => {
    const nowhere = world.backend({ apiUrl: 'http://127.0.0.1:9/api' })
    const error = await failure(nowhere.find('ws-x'))
    expect(error).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('DAYTONA_API_URL') })
  })

  test('after a failure behind our back that can be repaired the next call starts it with its files', async () => {
    const workspace = await world.open('ws-behind')
    await sh(workspace, 'echo kept > file')
    const inFlight = failure(sh(workspace, 'sleep 30'))
    await new Promise(resolve => setTimeout(resolve, 500))
    await world.behind('break-recoverable', workspace.info.incarnation ?? '')
    expect(await inFlight).toMatchObject({
      code: 'environment_lost',
      message: expect.stringContaining('failed: the runner lost it'),
    })
    expect(await sh(workspace, 'cat file')).toBe('kept')
    expect(workspace.takeNotices().join()).toContain('was restarted')
  })

  test('one in an error that can’t be repaired is left as it is, with what to do', async () => {
    const { info } = await provision('ws-error')
    await world.behind('break', info.incarnation ?? '')
    const error = await failure(provision('ws-error'))
    expect(error).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('workspace_delete') })
    expect(error.message).toContain('the runner lost it')
    expect(await world.backend().find('ws-error')).toMatchObject({ state: 'unknown' })
    expect(await world.sandboxes()).toHaveLength(1)
  })

  test('stopped or deleted by somebody before the close, it is closed all the same', async () => {
    const workspace = await world.open('ws-closed')
    await sh(workspace, 'true')
    await world.behind('stop', workspace.info.incarnation ?? '')
    await workspace.close()
    expect(await world.sandboxes()).toMatchObject([{ state: 'stopped' }])
    const again = await world.open('ws-closed')
    await world.behind('delete', again.info.incarnation ?? '')
    expect((await again.close()).notices.join()).toContain('gone already')
    await nothingLeft()
  })

  test('a service that was restarted is found again with all that it had', async () => {
    const workspace = await world.open('ws-restart')
    await sh(workspace, 'echo kept > file')
    await world.restart()
    expect(await sh(workspace, 'cat file')).toBe('kept')
    await workspace.destroy()
    await nothingLeft()
  })
})
