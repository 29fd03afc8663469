import { Sandbox } from 'e2b'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createWorld, failure, MISSING, OWNER, onStandIn, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onStandIn('e2b: life of a workspace'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  test('is made, found and listed by its owner, paused at close, and found again with its files and its life', async () => {
    const backend = world.backend()
    expect(await backend.find('ws-one')).toBeUndefined()
    const owner = { user: 'Zoë & co', agent: 'a/b', session: '' }
    const workspace = await world.open('ws-one', {}, { name: 'my box', owner, env: { A: 'ä=1' } })
    expect(workspace.info).toMatchObject({ backend: 'e2b', state: 'running', madeByAtelier: true })
    expect(await sh(workspace, 'pwd; echo hi > file')).toBe('/home/user/workspace')
    expect(await backend.find('ws-one')).toMatchObject({ state: 'running', name: 'my box', owner, env: { A: 'ä=1' } })

    expect(await workspace.close()).toEqual({ notices: [] })
    expect(await world.sandboxes()).toMatchObject([{ state: 'paused' }])
    const found = []
    for await (const info of backend.list({ user: owner.user })) found.push(info)
    for await (const info of backend.list({ user: 'somebody' })) found.push(info)
    expect(found).toMatchObject([{ id: 'ws-one', state: 'suspended', createdAt: workspace.info.createdAt }])

    const again = await world.open('ws-one', {}, { owner })
    expect(await sh(again, 'cat file')).toBe('hi')
    expect(again.info).toMatchObject({ name: 'my box', incarnation: workspace.info.incarnation, ended: 'it was paused' })
    await again.destroy()
    expect(await world.sandboxes()).toEqual([])
    expect(await backend.find('ws-one')).toBeUndefined()
  })

  test('its time-out pauses it; hosts put the end off while they use it, and not after', async () => {
    const backend = world.backend({ timeoutMs: 60_000 })
    const environment = await backend.provision(world.spec('ws-time'))
    const id = environment.info.incarnation ?? ''
    const before = await Sandbox.getInfo(id, world.account as object)
    expect(before.lifecycle).toEqual({ onTimeout: 'pause', autoResume: false })
    await new Promise(resolve => setTimeout(resolve, 1_100))
    await environment.keepAlive()
    const after = await Sandbox.getInfo(id, world.account as object)
    expect(after.endAt.getTime()).toBeGreaterThan(before.endAt.getTime())

    const short = await world.backend({ timeoutMs: 6_000 }).provision(world.spec('ws-short'))
    const state = async () => (await Sandbox.getInfo(short.info.incarnation ?? '', world.account as object)).state
    await vi.waitFor(async () => expect(await state()).toBe('paused'), { timeout: 30_000, interval: 500 })
  })

  test('two hosts get the same one; the first that closes only detaches', async () => {
    const a = await world.open('ws-two')
    const b = await world.open('ws-two')
    expect(a.info.incarnation).toBe(b.info.incarnation)
    expect(await Promise.all([sh(a, 'echo a > a; echo done'), sh(b, 'echo b > b; echo done')])).toEqual(['done', 'done'])
    expect((await a.close()).notices.join()).toContain('only detached')
    expect(await sh(b, 'cat a b')).toBe('a\nb')
    await b.close()
    expect(await world.sandboxes()).toMatchObject([{ state: 'paused' }])
  })

  test('passes on what the operator chose, and no key', async () => {
    const workspace = await world.open('ws-set', {
      ...{ env: { CHOSEN: 'yes' }, metadata: { team: 'x' }, workdir: '/srv/work here', allowInternetAccess: false },
      network: { denyOut: ['10.0.0.0/8'] },
    })
    expect(await sh(workspace, 'echo "$CHOSEN $PWD"')).toBe('yes /srv/work here')
    expect(await sh(workspace, 'env; tr "\\0" "\\n" < /proc/$PPID/environ')).not.toContain(world.account.apiKey)
    const [sandbox] = await world.sandboxes()
    expect(sandbox?.metadata.team).toBe('x')
    expect((await Sandbox.getInfo(sandbox?.sandboxId ?? '', world.account as object)).network?.denyOut).toEqual(['10.0.0.0/8'])
    expect(await world.backend().find('ws-set')).toMatchObject({ workdir: '/srv/work here' })
  })

  test('an image is a template of the account; a profile is refused', async () => {
    const made = await world.backend().provision(world.spec('ws-image', { image: 'atelier' }))
    expect(made.info.details.image).toBe('atelier')
    expect(await world.sandboxes()).toMatchObject([{ templateId: 'atelier' }])
    expect(await failure(world.backend().provision(world.spec('ws-none', { image: 'nope' })))).toMatchObject({
      code: 'not_found',
    })
    expect(await failure(world.backend().provision(world.spec('ws-none', { profile: 'x' })))).toMatchObject({
      code: 'unsupported',
    })
    expect(await world.sandboxes()).toHaveLength(1)
  })

  test('bootstrap commands give exit code, both streams and take input; abort and limit end them', async () => {
    const environment = await world.backend().provision(world.spec('ws-exec'))
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
    const ran = await environment.exec(['sh', '-c', 'cat; echo "it\'s" "$1" >&2; exit 3', 'sh', "a 'b' $c"], {
      input: Buffer.from('in'),
    })
    expect({ ...ran, stdout: text(ran.stdout), stderr: text(ran.stderr) }).toEqual({
      ...{ exitCode: 3, stdout: 'in', stderr: "it's a 'b' $c\n" },
    })
    expect(await failure(environment.exec(['sleep', '31'], { timeoutMs: 300 }))).toMatchObject({ code: 'timeout' })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 300)
    expect(await failure(environment.exec(['sleep', '32'], { signal: controller.signal }))).toMatchObject({ code: 'cancelled' })
    const left = await environment.exec(['sh', '-c', 'ps -e -o args= | grep "^sleep 3" || true'])
    expect(text(left.stdout)).toBe('')
    await environment.upload([
      { path: '/tmp/x/tool', data: Buffer.from('#!/bin/sh\necho ran'), mode: 0o755 },
      { path: '/tmp/x/note', data: Buffer.from([0, 255, 1]), mode: 0o600 },
    ])
    expect(text((await environment.exec(['/tmp/x/tool'])).stdout)).toBe('ran\n')
    expect(text((await environment.exec(['stat', '-c', '%a %s', '/tmp/x/note'])).stdout)).toBe('600 3\n')
  })

  test('the gateway is put in once', async () => {
    const uploads = () => world.faults.list().find(({ match }) => match === 'POST /files')?.times
    const first = await world.open('ws-once')
    expect(await sh(first, 'ls /tmp/.atelier-*/gateway-*.mjs | wc -l')).toBe('1')
    await first.close()
    world.fault({ match: 'POST /files', status: 500, times: 1 })
    const again = await world.open('ws-once')
    expect(await sh(again, 'echo there')).toBe('there')
    expect(uploads()).toBe(1)
  })

  test('without a key, or with a wrong one, it says what to set', async () => {
    const { apiKey: _, ...keyless } = world.account
    const { createE2bBackend } = await import('../../../src/backends/e2b/e2b.ts')
    const { silentLogger } = await import('../../../src/lib/log.ts')
    const none = createE2bBackend({ ...keyless, logger: silentLogger })
    expect(await failure(none.provision(world.spec('ws-key')))).toMatchObject({
      code: 'unauthenticated',
      hint: expect.stringContaining('E2B_API_KEY'),
    })
    const wrong = world.backend({ apiKey: 'e2b_wrong' })
    expect(await failure(wrong.find('ws-key'))).toMatchObject({ code: 'unauthenticated' })
    expect(await wrong.probe()).toMatchObject([{ ok: true }, { ok: true }, { name: 'authorised', ok: false }])
    expect((await world.backend().probe()).every(({ ok }) => ok)).toBe(true)
  })

  test('a service that starts anew knows all it knew', async () => {
    const workspace = await world.open('ws-restart')
    await sh(workspace, 'echo kept > file; export KEPT=1')
    await world.restart()
    expect(await sh(workspace, 'cat file; echo $KEPT')).toBe('kept\n1')
    expect(await world.backend().find('ws-restart')).toMatchObject({ state: 'running', owner: OWNER })
  })
})
