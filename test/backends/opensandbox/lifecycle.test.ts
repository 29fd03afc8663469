import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { EnvironmentInfo } from '../../../src/backends/backend.ts'
import { later } from '../../support/clock.ts'
import { leftovers } from '../../support/leftovers.ts'
import { createWorld, failure, IMAGE, IS_GIVEN, inContainer, MISSING, OWNER, onServer, sh, type World } from './support.ts'

describe.skipIf(MISSING !== undefined)(onServer('opensandbox: life of a workspace'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world?.clear())
  afterAll(() => world?.remove())

  test('is made, found and listed by its owner, paused at close, and found again with its files and processes', async () => {
    const backend = world.backend()
    expect(await backend.find('ws-one')).toBeUndefined()
    const workspace = await world.open('ws-one', {}, { name: 'one of mine', env: { A: '1' } })
    expect(workspace.info).toMatchObject({
      ...{ backend: 'opensandbox', state: 'running', workdir: '/workspace', root: '/workspace', madeByAtelier: true },
      details: { image: IMAGE },
    })
    expect(await sh(workspace, 'pwd; echo hi > file; sleep 1000 & echo $! > /tmp/pid')).toContain('/workspace')
    expect(await backend.find('ws-one')).toMatchObject({ state: 'running', name: 'one of mine', owner: OWNER, env: { A: '1' } })
    await workspace.close()
    const found: EnvironmentInfo[] = []
    for await (const info of backend.list({ user: 'u' })) found.push(info)
    for await (const info of backend.list({ user: 'somebody' })) found.push(info)
    const { createdAt, incarnation } = workspace.info
    expect(found).toMatchObject([{ id: 'ws-one', state: 'suspended', env: { A: '1' }, createdAt, incarnation }])

    const again = await world.open('ws-one')
    expect(await sh(again, 'cat file')).toBe('hi')
    expect(again.info).toMatchObject({ name: 'one of mine', createdAt, incarnation, ended: 'it was paused' })
    await again.destroy()
    expect(await world.sandboxes()).toEqual([])
    expect(await backend.find('ws-one')).toBeUndefined()
  })

  test('orphans are reaped', async () => {
    const workspace = await world.open('ws-orphans')
    await sh(workspace, '(sleep 0.1 &) ; sleep 0.5')
    expect(await sh(workspace, 'ps -e -o stat= | grep -c Z || true')).toBe('0')
    await workspace.close()
  })

  test.skipIf(IS_GIVEN)('settings reach the sandbox, the API key and the token never do', async () => {
    const options = {
      ...{ env: { FROM: 'operator' }, metadata: { team: 'blue' }, resources: { cpu: '500m', memory: '512Mi' } },
      ...{ workdir: '/srv/my work', accessToken: 'sesame', entrypoint: ['sh', '-c', 'exec sleep infinity'] },
    }
    const workspace = await world.open('ws-settings', options)
    expect(await sh(workspace, 'pwd; echo $FROM; tr "\\0" " " < /proc/1/cmdline')).toMatch(
      /^\/srv\/my work\noperator\nsleep infinity/,
    )
    const [id = ''] = await world.sandboxes()
    expect(await world.ask('GET', `/sandboxes/${id}`)).toMatchObject({ metadata: { team: 'blue' } })
    const seen = await inContainer(id, 'cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"; cat /tmp/execd.log')
    expect(seen).toContain('FROM=operator')
    expect(seen).not.toContain(world.server.apiKey)
    expect(seen).not.toContain(world.apiKey)
    await workspace.close()
    const stranger = await failure(world.backend({ readyTimeoutMs: 3_000 }).provision(world.spec('ws-settings')))
    expect(stranger.code).toBe('unauthenticated')
  })

  test('a time-out of the operator is renewed by keeping alive', async () => {
    const backend = world.backend({ timeoutMs: 120_000 })
    const environment = await backend.provision(world.spec('ws-timeout'))
    const expiry = async (): Promise<number> => {
      const { expiresAt } = (await world.ask('GET', `/sandboxes/${environment.info.incarnation}`)) as { expiresAt: string }
      return Date.parse(expiresAt)
    }
    const before = await expiry()
    await environment.keepAlive()
    expect(await expiry()).toBeGreaterThan(before)
    await environment.destroy()
  })

  test('a second host attaches to the same sandbox, beside the first and after it', async () => {
    const first = await world.open('ws-two', {}, { goodbye: 'detach' })
    const second = await world.open('ws-two', {}, { goodbye: 'detach' })
    expect(second.info.incarnation).toBe(first.info.incarnation)
    await sh(first, 'echo 1 > shared')
    expect(await sh(second, 'cat shared')).toBe('1')
    await first.detach()
    expect(await sh(second, 'cat shared')).toBe('1')
    await second.close()
    expect(await world.sandboxes()).toHaveLength(1)
  })

  test.skipIf(IS_GIVEN)('works through the server, and after it was started again', async () => {
    const workspace = await world.open('ws-proxy', { useServerProxy: true })
    expect(await sh(workspace, 'echo through')).toBe('through')
    await world.restart()
    expect(await sh(workspace, 'echo again')).toBe('again')
    await workspace.close()
    const later = await world.open('ws-proxy')
    expect(await sh(later, 'echo later')).toBe('later')
    expect(later.info.incarnation).toBe(workspace.info.incarnation)
    await later.close()
  })

  test('what is left: a long unused sandbox is paused, one that nobody was given is removed, and no other is touched', async () => {
    const left = await world.backend({ ttlMs: 1_200_000 }).provision(world.spec('ws-left'))
    const used = await world.backend().provision(world.spec('ws-used'))
    world.front.faults.add({ match: 'PATCH ', status: 403, times: 99 })
    world.front.faults.add({ match: 'DELETE ', status: 403, times: 99 })
    await failure(world.backend().provision(world.spec('ws-half')))
    world.front.faults.clear()
    const names = [left.info.incarnation, used.info.incarnation]
    const half = (await world.sandboxes()).find(id => !names.includes(id))
    const stateOf = async (id: string | undefined) =>
      ((await world.ask('GET', `/sandboxes/${id}`)) as { status: { state: string } }).status.state

    const paused = {
      kind: 'sandbox',
      name: left.info.incarnation,
      action: 'suspend',
      reason: expect.stringContaining('its files stay'),
    }
    const removed = { kind: 'sandbox', name: half, action: 'remove', reason: expect.stringContaining('nobody was given it') }
    expect(await leftovers(world.backend(), { dryRun: false })).toEqual([])
    const halfAnHour = 1_800_000
    const would = await later(halfAnHour, () => leftovers(world.backend(), { dryRun: true }))
    expect(would).toHaveLength(2)
    expect(would).toEqual(expect.arrayContaining([paused, removed]))
    expect(await stateOf(left.info.incarnation)).toBe('Running')
    expect(await later(halfAnHour, () => leftovers(world.backend(), { dryRun: false }))).toHaveLength(2)
    expect(await stateOf(left.info.incarnation)).toBe('Paused')
    expect(await stateOf(used.info.incarnation)).toBe('Running')
    expect(await world.sandboxes()).not.toContain(half)

    await world.backend().remove?.({ id: 'ws-left', owner: { ...OWNER, user: 'else' } })
    expect(await stateOf(left.info.incarnation)).toBe('Paused')
    await world.backend().remove?.(left.info)
    expect(await world.sandboxes()).toEqual([used.info.incarnation])
  })

  test('the probe says whether server and key are right', async () => {
    expect(await world.backend().probe()).toMatchObject([
      { name: 'configured', ok: true },
      { name: 'reachable', ok: true },
      { name: 'authorised', ok: true },
      { name: 'image', ok: true },
    ])
    expect(await world.backend({ apiKey: 'wrong' }).probe()).toMatchObject([
      { ok: true },
      { name: 'reachable', ok: true },
      { name: 'authorised', ok: false, hint: expect.stringContaining('OPEN_SANDBOX_API_KEY') },
    ])
    const [, step] = await world.backend({ domain: '127.0.0.1:9' }).probe()
    expect(step).toMatchObject({ ok: false, hint: expect.stringContaining('opensandbox.domain') })
  })
})
