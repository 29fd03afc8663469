import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createWorld, failure, MISSING, OWNER, onStandIn, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onStandIn('daytona: life of a workspace'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  test('is made at once, found and listed by its owner, stopped at close, and found again with its files', async () => {
    const backend = world.backend()
    expect(await backend.find('ws-one')).toBeUndefined()
    const workspace = await world.open('ws-one', {}, { name: 'one', env: { A: '1' }, ttlMs: 60_000 })
    expect(workspace.info).toMatchObject({
      ...{ backend: 'daytona', state: 'running', workdir: '/workspace', root: '/workspace', madeByAtelier: true },
      details: { sandbox: 'atelier-ws-one' },
    })
    expect(await sh(workspace, 'pwd; echo hi > file; echo "$A"')).toBe('/workspace\n1')
    expect(await backend.find('ws-one')).toMatchObject({ state: 'running', name: 'one', owner: OWNER, env: { A: '1' } })

    expect(await workspace.close()).toEqual({ notices: [] })
    expect(await world.sandboxes()).toMatchObject([{ state: 'stopped' }])
    const found = []
    for await (const info of backend.list({ user: 'u' })) found.push(info)
    for await (const info of backend.list({ user: 'somebody' })) found.push(info)
    expect(found).toMatchObject([{ id: 'ws-one', name: 'one', state: 'suspended', createdAt: workspace.info.createdAt }])

    const again = await world.open('ws-one')
    expect(await sh(again, 'cat file; echo "$A"')).toBe('hi\n1')
    expect(again.info).toMatchObject({ ended: 'it was stopped', createdAt: workspace.info.createdAt })
    await again.destroy()
    expect(await world.sandboxes()).toEqual([])
    expect(await backend.find('ws-one')).toBeUndefined()
  })

  test('the key never gets into the sandbox, and no time-out of the service deletes it', async () => {
    const workspace = await world.open('ws-kept', { autoStopMinutes: 7 })
    expect(await sh(workspace, 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"')).not.toContain(
      world.account.apiKey,
    )
    const [sandbox] = await world.sandboxes()
    expect(sandbox).toMatchObject({ autoStopInterval: 7, autoDeleteInterval: -1 })
    expect(sandbox?.autoDestroyAt).toBeUndefined()

    // Somebody set some: the next attach takes them away.
    await sandbox?.setAutoDeleteInterval(0)
    await sandbox?.setTtl(60)
    await workspace.detach()
    await world.open('ws-kept')
    const [now] = await world.sandboxes()
    expect(now).toMatchObject({ autoDeleteInterval: -1 })
    expect(now?.autoDestroyAt).toBeUndefined()
  })

  test('while it is open its time is put off; an idle one is stopped by the service, archived, and comes back', async () => {
    const environment = await world.backend().provision(world.spec('ws-idle'))
    const activity = async () => (await world.sandboxes())[0]?.lastActivityAt ?? ''
    const before = await activity()
    await new Promise(resolve => setTimeout(resolve, 20))
    await environment.keepAlive()
    expect(Date.parse(await activity())).toBeGreaterThan(Date.parse(before))

    await environment.exec(['sh', '-c', 'echo kept > /workspace/file'])
    const id = environment.info.incarnation ?? ''
    await world.behind('idle', id)
    await world.behind('rest', id)
    await vi.waitFor(async () => expect(await world.sandboxes()).toMatchObject([{ state: 'archived' }]), 10_000)
    const again = await world.backend().provision(world.spec('ws-idle'))
    expect(again.info).toMatchObject({ incarnation: id, ended: 'it was archived', state: 'running' })
    expect(Buffer.from((await again.exec(['cat', '/workspace/file'])).stdout).toString()).toBe('kept\n')
  })

  test('another host works in the same one; the first that closes only detaches', async () => {
    const a = await world.open('ws-two')
    const b = await world.open('ws-two')
    expect(a.info.incarnation).toBe(b.info.incarnation)
    await sh(a, 'echo a > a')
    expect(await sh(b, 'cat a')).toBe('a')
    expect((await a.close()).notices.join()).toContain('only detached')
    expect(await sh(b, 'echo still')).toBe('still')
    await b.close()
    expect(await world.sandboxes()).toMatchObject([{ state: 'stopped' }])
  })

  test('what the operator chose is passed on', async () => {
    const network = { blockAll: false, allow: ['10.0.0.0/8', '1.1.1.1/32'], domains: ['npmjs.org'] }
    const volumes = [{ volumeId: 'v1', mountPath: '/data' }]
    const backend = world.backend({
      ...{ target: 'eu', snapshot: 'atelier', user: 'somebody', env: { B: '2' }, labels: { team: 'x' }, network, volumes },
      ...{ autoArchiveMinutes: 9, workdir: '/srv/work' },
    })
    const { info } = await backend.provision(world.spec('ws-all', { env: { A: '1' } }))
    expect(info).toMatchObject({ workdir: '/srv/work', env: { A: '1' }, details: { image: 'atelier', target: 'eu' } })
    const sandbox = await world.client.get('atelier-ws-all')
    expect(sandbox).toMatchObject({
      ...{ target: 'eu', snapshot: 'atelier', user: 'somebody', env: { A: '1', B: '2' }, autoArchiveInterval: 9, volumes },
      ...{ networkAllowList: '10.0.0.0/8,1.1.1.1/32', domainAllowList: 'npmjs.org', public: false },
      labels: expect.objectContaining({ team: 'x' }),
    })
  })

  test('namespaces and users do not see each other; a name that is somebody else’s is refused', async () => {
    const one = await world.backend({ namespace: 'one' }).provision(world.spec('ws-same'))
    const two = await world.backend({ namespace: 'two' }).provision(world.spec('ws-same'))
    expect(one.info.incarnation).not.toBe(two.info.incarnation)
    const listed = []
    for await (const info of world.backend({ namespace: 'one' }).list({})) listed.push(info.incarnation)
    expect(listed).toEqual([one.info.incarnation])
    const other = world.spec('ws-same', { owner: { ...OWNER, user: 'other' } })
    expect(await failure(world.backend({ namespace: 'one' }).provision(other))).toMatchObject({ code: 'already_exists' })
    await world.client.create({ name: 'atelier-ws-foreign' })
    expect(await failure(world.backend().provision(world.spec('ws-foreign')))).toMatchObject({ code: 'already_exists' })
    expect(await world.backend().find('ws-foreign')).toBeUndefined()
  })

  test('what a command writes comes byte for byte, and its files get in whole with their modes', async () => {
    const environment = await world.backend().provision(world.spec('ws-bytes'))
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256))
    const script = 'cat; printf "\\377" >&2; exit 7'
    const { exitCode, stdout, stderr } = await environment.exec(['sh', '-c', script], { input: bytes })
    expect([exitCode, Buffer.from(stdout), Buffer.from(stderr)]).toEqual([7, bytes, Buffer.from([0xff])])
    const big = Buffer.alloc(3_000_000, bytes)
    await environment.upload([
      { path: 'deep/er/a b', data: new Uint8Array(big), mode: 0o640 },
      { path: '/tmp/empty', data: new Uint8Array(), mode: 0o755 },
    ])
    const back = await environment.exec([
      'sh',
      '-c',
      'stat -c %a "deep/er/a b" /tmp/empty; cat "deep/er/a b"; ls -d /tmp/.atelier-exec*',
    ])
    expect(Buffer.from(back.stderr).toString()).toContain('deep/er')
    const there = await environment.exec(['sh', '-c', 'cd /workspace && stat -c %a "deep/er/a b" /tmp/empty; cat "deep/er/a b"'])
    expect(Buffer.from(there.stdout).subarray(0, 8).toString()).toBe('640\n755\n')
    expect(Buffer.from(there.stdout).subarray(8).equals(big)).toBe(true)
  })

  test('a command that takes too long, or is not wanted any more, is ended with all that it started', async () => {
    const environment = await world.backend().provision(world.spec('ws-late'))
    const slow = (seconds: string) => ['sh', '-c', `sleep ${seconds} & sleep ${seconds}`]
    expect(await failure(environment.exec(slow('7711'), { timeoutMs: 1_000 }))).toMatchObject({ code: 'timeout' })
    const signal = AbortSignal.timeout(500)
    expect(await failure(environment.exec(slow('7722'), { signal }))).toMatchObject({ code: 'cancelled' })
    const left = await environment.exec([
      'sh',
      '-c',
      'cat /proc/[0-9]*/cmdline | tr "\\0" " "; ls -d /tmp/.atelier-exec* | wc -l',
    ])
    expect(Buffer.from(left.stdout).toString()).not.toMatch(/sleep 77(11|22)/)
    // Its own alone.
    expect(Buffer.from(left.stdout).toString()).toMatch(/1\n$/)
  })

  test('says what it needs and what was found', async () => {
    const steps = async (options: object) => world.backend(options).probe()
    expect(await steps({})).toMatchObject([
      { name: 'configured', ok: true },
      { name: 'reachable', ok: true },
      { name: 'authorised', ok: true },
      { name: 'snapshot', ok: true },
    ])
    expect(await steps({ apiKey: 'wrong' })).toMatchObject([
      {},
      {},
      { name: 'authorised', hint: expect.stringContaining('DAYTONA_API_KEY') },
    ])
    expect(await steps({ apiKey: undefined })).toMatchObject([{ ok: false, hint: expect.stringContaining('DAYTONA_API_KEY') }])
    const snapshot = async (name: string) => (await steps({ snapshot: name }))[3]
    expect(await snapshot('atelier')).toMatchObject({ ok: true, detail: 'atelier' })
    expect(await snapshot('nowhere')).toMatchObject({ ok: false, hint: expect.stringContaining('daytona.snapshot') })
    expect(await snapshot('broken')).toMatchObject({ ok: false, detail: expect.stringContaining('error') })
  })
})
