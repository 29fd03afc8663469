import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildHost } from '../host.ts'
import { createWorld, ENV, failure, IMAGE, MISSING, onEngine, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onEngine('docker: what dies behind our back'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  }, 120_000)
  afterEach(() => world.clear(), 60_000)
  afterAll(() => world?.remove(), 60_000)

  /** A command in flight, and a promise of its typed end. */
  const inFlight = async (id: string, options = {}) => {
    const workspace = await world.open(id, options)
    await sh(workspace, 'export KEPT=1; echo file > file; touch /outside')
    const running = failure(workspace.shell.run({ session: 's', command: 'touch begun; sleep 300' }))
    await expect.poll(() => sh(workspace, 'cat begun && echo yes', { session: 'other' }), { timeout: 20_000 }).toBe('yes')
    return { workspace, running, container: await world.container() }
  }

  test('a host killed in mid-command: the next one finds the container, its jobs and their output', async () => {
    const start = await buildHost(world.base)
    const settings = { dataDir: world.dataDir, image: IMAGE, ...(ENV.DOCKER_HOST ? { host: ENV.DOCKER_HOST } : {}) }
    const host = start({ backend: 'docker', settings, id: 'ws-host', script: world.script, work: 'long' })
    const { job } = JSON.parse(await host.said) as { job: string }
    const before = (await (await world.container()).inspect()).Id
    host.kill('SIGKILL')
    await once(host, 'exit')

    const workspace = await world.open('ws-host')
    expect((await (await world.container()).inspect()).Id).toBe(before)
    await expect.poll(async () => (await workspace.shell.jobs()).length, { timeout: 20_000 }).toBe(2)
    const jobs = await workspace.shell.jobs()
    const command = jobs.find(each => each.id !== job)
    const read = async (id: string) => {
      const { job: info, output } = await workspace.shell.readJob({ id, session: 's', offset: 0, waitMs: 1_000 })
      return `${info.status} ${output.head}${output.tail}`
    }
    expect(command?.command).toContain('echo begun')
    await expect.poll(() => read(command?.id ?? ''), { timeout: 30_000 }).toMatch(/^exited begun\s+done/)
    await expect.poll(() => read(job), { timeout: 30_000 }).toMatch(/^exited tick 1[\s\S]*tick 8/)
  })

  test('a container that is killed', async () => {
    const { workspace, running, container } = await inFlight('ws-killed')
    await container.kill()
    const error = await running
    expect([error.code, error.message]).toEqual(['environment_lost', expect.stringContaining('it was killed')])
    expect(await sh(workspace, 'cat file; ls /outside; test -v KEPT || echo lost')).toBe('file\n/outside\nlost')
    expect(workspace.takeNotices().join()).toContain('restarted (it was killed)')
    expect(workspace.takeNotices()).toEqual([])
  })

  test('a daemon that is killed', async () => {
    const { workspace, running } = await inFlight('ws-daemon')
    const killer = world.backend()
    const other = await killer.provision(world.spec('ws-daemon'))
    await other.exec(['sh', '-c', 'kill -KILL $(pgrep -f "[g]ateway.mjs serve" | tail -n 1)']).catch(() => {})
    expect((await running).code).toBe('environment_lost')
    expect(await sh(workspace, 'cat file')).toBe('file')
    expect(workspace.takeNotices().join()).toContain('was restarted')
  })

  test('a container that runs out of memory says so, and so does a command that does', async () => {
    const options = { profiles: { small: { memoryBytes: 256 * 1024 ** 2 } }, profile: 'small' }
    const workspace = await world.open('ws-oom', options)
    const eaten = await workspace.shell.run({ session: 's', command: 'tail /dev/zero' })
    expect(eaten.notices.join()).toMatch(/memory/i)
    expect(await sh(workspace, 'echo alive')).toBe('alive')

    // The gateway is spared while there is another victim; here it is made the first one.
    await sh(workspace, 'for pid in $(pgrep -f "gateway.mjs serve"); do echo 1000 > /proc/$pid/oom_score_adj; done')
    const error = await failure(
      workspace.shell.run({ session: 's', command: 'echo 0 > /proc/self/oom_score_adj; tail /dev/zero & tail /dev/zero; wait' }),
    )
    expect([error.code, error.message]).toEqual(['out_of_memory', expect.stringContaining('OOM-killed (limit 256 MiB)')])
    expect(await sh(workspace, 'echo again')).toBe('again')
    expect(workspace.takeNotices().join()).toContain('out of memory')
  })

  test('a disk that is full costs the command its output, never the workspace', async () => {
    const options = { profiles: { full: { tmpfs: { '/small': 'size=1m' } } }, profile: 'full' }
    const workspace = await world.open('ws-full', options)
    expect(await sh(workspace, 'dd if=/dev/zero of=/small/x bs=64k count=100 2>&1; echo "exit $?"')).toMatch(/No space left/)
    const error = await failure(workspace.files.write({ session: 's', path: '/small/y', content: 'x'.repeat(100_000) } as never))
    expect(error.code).toBe('no_space')
    expect(await sh(workspace, 'echo alive; ls /small')).toBe('alive\nx')
  })

  test('nothing is left running after a time-out or a cancellation', async () => {
    const workspace = await world.open('ws-left')
    await workspace.shell.run({ session: 's', command: 'setsid sleep 311 & sleep 312', timeoutMs: 500 })
    const controller = new AbortController()
    const cancelled = failure(
      workspace.shell.run({ session: 's', command: 'touch on; sleep 313' }, { signal: controller.signal }),
    )
    await expect.poll(() => sh(workspace, 'ls on', { session: 'other' }), { timeout: 20_000 }).toBe('on')
    controller.abort()
    await cancelled.catch(() => {})
    await expect.poll(() => sh(workspace, 'pgrep -f "sleep 31[123]" | grep -v $$ | wc -l'), { timeout: 20_000 }).toBe('0')
  })

  test('an engine that is not there: the message says how to reach one', async () => {
    const host = `unix://${world.base}/no.sock`
    const error = await failure(world.open('ws-nowhere', { host }))
    expect([error.code, error.message]).toEqual(['unavailable', expect.stringContaining('no.sock')])
    expect(error.hint).toMatch(/dockerd[\s\S]*DOCKER_HOST/)
    const refused = await failure(world.open('ws-nowhere', { host: 'tcp://127.0.0.1:1' }))
    expect([refused.code, refused.message]).toEqual(['unavailable', expect.stringContaining('127.0.0.1:1')])
    const steps = await world.backend({ host }).probe()
    expect(steps).toMatchObject([{ name: 'reachable', ok: false }])
  })
})
