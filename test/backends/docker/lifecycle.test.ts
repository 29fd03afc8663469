import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { containerName } from '../../../src/backends/docker/context.ts'
import { createWorld, failure, IMAGE, MISSING, OWNER, onEngine, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onEngine('docker: life of a workspace'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  }, 120_000)
  afterEach(() => world.clear(), 60_000)
  afterAll(() => world?.remove(), 60_000)

  const nameOf = (id: string) => containerName({ scope: world.dataDir }, id)

  test('is made at once, found and listed by its owner, suspended at close, and found again with its files', async () => {
    const backend = world.backend()
    expect(await backend.find('ws-one')).toBeUndefined()
    const workspace = await world.open('ws-one', {}, { name: 'one', env: { A: '1' } })
    expect(workspace.info).toMatchObject({
      backend: 'docker',
      state: 'running',
      workdir: '/workspace',
      root: '/workspace',
      madeByAtelier: true,
    })
    expect(await sh(workspace, 'pwd; echo hi > file; echo "$PATH"')).toContain('/workspace\n/usr')
    expect(readFileSync(join(world.dataDir, 'docker/ws-one/workspace/file'), 'utf8')).toBe('hi\n')
    expect(await backend.find('ws-one')).toMatchObject({ state: 'running', name: 'one', owner: OWNER, env: { A: '1' } })

    expect(await workspace.close()).toEqual({ notices: [] })
    expect(await world.containers()).toEqual([])
    const found = []
    for await (const info of backend.list({ user: 'u' })) found.push(info)
    for await (const info of backend.list({ user: 'somebody' })) found.push(info)
    expect(found).toMatchObject([
      { id: 'ws-one', name: 'one', state: 'suspended', env: { A: '1' }, createdAt: workspace.info.createdAt },
    ])

    const again = await world.open('ws-one')
    expect(await sh(again, 'cat file')).toBe('hi')
    expect(again.info).toMatchObject({ name: 'one', createdAt: workspace.info.createdAt })
    await again.destroy()
    expect(await world.containers()).toEqual([])
    expect(existsSync(join(world.dataDir, 'docker/ws-one'))).toBe(false)
    expect(await backend.find('ws-one')).toBeUndefined()
  })

  test('runs under an init that reaps orphans, with the gateway as its child', async () => {
    const workspace = await world.open('ws-init')
    expect(await sh(workspace, 'tr "\\0" " " < /proc/1/cmdline')).toContain('gateway.mjs serve')
    await sh(workspace, '(sleep 0.1 &) ; sleep 0.5')
    expect(await sh(workspace, 'ps -e -o stat= | grep -c Z || true')).toBe('0')
  })

  test('two hosts that make it at once get the same one, and both can use it', async () => {
    const [a, b] = await Promise.all([world.open('ws-two'), world.open('ws-two')])
    expect(a.info.incarnation).toBe(b.info.incarnation)
    const [one, two] = await Promise.all([sh(a, 'echo a > a; echo done'), sh(b, 'echo b > b; echo done')])
    expect([one, two]).toEqual(['done', 'done'])
    expect(await sh(a, 'cat a b')).toBe('a\nb')
    expect(await world.containers()).toHaveLength(1)
    const { notices } = await a.close()
    expect(notices.join()).toContain('only detached')
    expect(await sh(b, 'echo still')).toBe('still')
    await b.close()
    expect(await world.containers()).toEqual([])
  })

  test('a paused one is resumed, a stopped one is started', async () => {
    const workspace = await world.open('ws-wake')
    await sh(workspace, 'touch /marker')
    await workspace.detach()
    const container = await world.container()
    await container.stop({ t: 1 }).catch(() => {})
    const started = await world.open('ws-wake')
    expect(await sh(started, 'ls /marker')).toBe('/marker')
    await container.pause()
    expect(await world.backend().find('ws-wake')).toMatchObject({ state: 'suspended' })
    const resumed = await world.open('ws-wake')
    expect(await sh(resumed, 'echo awake')).toBe('awake')
  })

  test('one that somebody else was about to start is started, and one half made by a dead host is finished', async () => {
    const spec = world.spec('ws-half')
    await (await world.backend().provision(spec))[Symbol.asyncDispose]()
    const before = await (await world.container()).inspect()
    await world.clear()
    // As a host leaves it that dies between create and start.
    await world.docker.createContainer({
      ...{ name: nameOf('ws-half'), Image: IMAGE, Labels: before.Config.Labels, WorkingDir: '/workspace' },
      ...{ Entrypoint: before.Config.Entrypoint as string[], Cmd: before.Config.Cmd },
      HostConfig: { Mounts: before.HostConfig.Mounts as never, Init: true },
    })
    const workspace = await world.open('ws-half')
    expect(await sh(workspace, 'echo finished')).toBe('finished')
  })

  test('a container of that name that is not ours is refused and left alone', async () => {
    const stranger = await world.docker.createContainer({ name: nameOf('ws-strange'), Image: IMAGE, Cmd: ['sleep', '60'] })
    try {
      const error = await failure(world.open('ws-strange'))
      expect([error.code, error.message]).toEqual(['already_exists', expect.stringContaining(nameOf('ws-strange'))])
      expect((await stranger.inspect()).State.Status).toBe('created')
    } finally {
      await stranger.remove({ force: true })
    }
  })

  test('a start that fails leaves no container, volume or file, and takes nothing that was there', async () => {
    const volumes = await world.volumes()
    const kept = join(world.dataDir, 'docker/ws-kept/workspace')
    mkdirSync(kept, { recursive: true })
    writeFileSync(join(kept, 'mine'), '')
    const profiles = { broken: { network: 'no-such-network' }, user: { user: 'nobody-of-that-name' } }
    for (const [id, profile] of [
      ['ws-fails', 'broken'],
      ['ws-fails', 'user'],
      ['ws-kept', 'broken'],
    ] as const) {
      const error = await failure(world.open(id, { profiles, profile }))
      expect(error.name).toBe('WorkspaceError')
      expect(error.message).toMatch(/no-such-network|nobody-of-that-name/)
    }
    expect(await world.containers()).toEqual([])
    expect(await world.volumes()).toEqual(volumes)
    expect(readdirSync(join(world.dataDir, 'docker'))).not.toContain('ws-fails')
    expect(readdirSync(join(world.dataDir, 'docker/ws-kept'))).toEqual(['workspace'])
    expect(readdirSync(kept)).toEqual(['mine'])
  })

  test('an image that is not there is named, with the way to get it; a cancelled call makes nothing', async () => {
    const error = await failure(world.open('ws-none', { image: 'localhost:1/no-such-image:1' }))
    expect([error.code, error.message]).toEqual(['unavailable', expect.stringContaining('localhost:1/no-such-image:1')])
    const missing = await failure(world.open('ws-none', { image: 'atelier-workspace:latest' }))
    if (missing.code === 'not_found') expect(missing.hint).toContain('docker build -t atelier-workspace')
    const aborted = await failure(world.backend().provision(world.spec('ws-none'), { signal: AbortSignal.abort() }))
    expect(aborted.code).toBe('cancelled')
    expect(await world.containers()).toEqual([])
  })

  test('cycles of create and close leave nothing behind', async () => {
    const volumes: string[] = []
    for (let cycle = 0; cycle < 20; cycle++) {
      const workspace = await world.open('ws-cycle')
      await sh(workspace, 'sleep 100 & echo started')
      const { Mounts } = await (await world.container()).inspect()
      volumes.push(...Mounts.flatMap(({ Name }) => Name ?? []))
      await workspace.close()
    }
    expect(await world.containers()).toEqual([])
    expect(volumes.length).toBeGreaterThanOrEqual(20)
    expect((await world.volumes()).filter(name => volumes.includes(name))).toEqual([])
  }, 300_000)

  test('an ephemeral one is kept stopped at close, with its files, and goes when it is deleted', async () => {
    const volumes = await world.volumes()
    const options = { profiles: { short: { ephemeral: true } }, profile: 'short' }
    const workspace = await world.open('ws-short', options)
    await sh(workspace, 'echo kept > file')
    await workspace.close()
    expect(await world.containers()).toMatchObject([{ State: 'exited' }])
    expect(await world.backend().find('ws-short')).toMatchObject({ state: 'suspended' })
    const again = await world.open('ws-short', options)
    expect(await sh(again, 'cat file')).toBe('kept')
    await again.destroy()
    expect(await world.containers()).toEqual([])
    expect(await world.volumes()).toEqual(volumes)
  })

  test("the user's own directory is mounted, holds nothing of ours, and is never removed", async () => {
    const directory = join(world.base, 'project')
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'mine'), 'yes')
    const workspace = await world.open('ws-own', {}, { directory })
    expect(workspace.info).toMatchObject({ workdir: '/workspace', root: '/atelier', madeByAtelier: false, directory })
    expect(await sh(workspace, 'cat mine; sleep 60 & echo')).toContain('yes')
    expect(readdirSync(directory)).toEqual(['mine'])
    expect((await failure(workspace.destroy())).code).toBe('permission_denied')
    await workspace.close()
    expect(await world.backend().find('ws-own')).toMatchObject({ state: 'suspended', directory, madeByAtelier: false })
    expect(readdirSync(directory)).toEqual(['mine'])
  })

  test('bootstrap: exec gives bytes and exit code, and leaves nothing at its limit; upload writes with a mode', async () => {
    const environment = await world.backend().provision(world.spec('ws-boot'))
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
    const input = Buffer.from('in')
    const { exitCode, stdout, stderr } = await environment.exec(['sh', '-c', 'cat; echo err >&2; exit 3'], { input })
    expect([exitCode, text(stdout), text(stderr)]).toEqual([3, 'in', 'err\n'])
    const late = await failure(environment.exec(['sh', '-c', 'sleep 321 & sleep 322'], { timeoutMs: 1_000 }))
    expect(late.code).toBe('timeout')
    const left = await environment.exec(['sh', '-c', 'pgrep -x sleep | wc -l'])
    expect(text(left.stdout).trim()).toBe('0')
    await environment.upload([
      { path: 'sub/tool', data: Buffer.from('#!/bin/sh\necho ran'), mode: 0o755 },
      { path: '/tmp/note', data: Buffer.from('n'), mode: 0o600 },
    ])
    const ran = await environment.exec(['sh', '-c', '/workspace/sub/tool; stat -c %a /tmp/note'])
    expect(text(ran.stdout)).toBe('ran\n600\n')
    await environment.destroy()
  })

  test('an abandoned one ends by itself', async () => {
    const workspace = await world.open('ws-idle', { limits: { gatewayIdleMs: 1_000 } }, { goodbye: 'detach' })
    await sh(workspace, 'echo hi')
    const container = await world.container()
    const ended = container.wait()
    await workspace.detach()
    expect((await ended).StatusCode).toBe(0)
    expect(await world.backend().find('ws-idle')).toMatchObject({ state: 'suspended' })
  })
})
