import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { resourceName } from '../../../src/backends/kubernetes/names.ts'
import { createWorld, failure, IMAGE, MISSING, onCluster, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onCluster('kubernetes: what dies behind our back'), () => {
  let world: World

  beforeAll(() => {
    world = createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  /** A command in flight, a job in the background, and a promise of the command's typed end. */
  const inFlight = async (id: string, options = {}) => {
    const workspace = await world.open(id, options)
    await sh(workspace, 'export KEPT=1; echo file > file; touch /tmp/outside')
    const { job = '' } = await workspace.shell.run({ session: 's', command: 'echo begun; sleep 300', background: true })
    const running = failure(workspace.shell.run({ session: 's', command: 'touch begun; sleep 300' }))
    await expect.poll(() => sh(workspace, 'cat begun && echo yes', { session: 'other' }), { timeout: 30_000 }).toBe('yes')
    return { workspace, running, job }
  }

  test('a Pod that is evicted by the API: the call says so, the next one has a new Pod with the files', async () => {
    const { workspace, running, job } = await inFlight('ws-evicted')
    const name = resourceName('ws-evicted')
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: world.space.namespace } }
    const path = `/api/v1/namespaces/${world.space.namespace}/pods/${name}/eviction`
    world.kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction))
    const error = await running
    expect([error.code, error.message]).toEqual(['environment_lost', expect.stringMatching(/it was evicted|was removed/)])
    expect(await sh(workspace, 'cat file; ls /tmp/outside 2>/dev/null || echo gone; test -v KEPT || echo lost')).toBe(
      'file\ngone\nlost',
    )
    expect(workspace.takeNotices().join()).toContain('has been made again')
    expect(workspace.takeNotices()).toEqual([])
    const { job: info, output } = await workspace.shell.readJob({ id: job, session: 's', offset: 0 })
    expect(info.status).not.toBe('running')
    expect(output.head).toContain('begun')
  })

  test('a Pod that its node evicts for what it wrote', async () => {
    const options = { resources: { limits: { 'ephemeral-storage': '20Mi' } } }
    const { workspace, running } = await inFlight('ws-full', options)
    await sh(workspace, 'head -c 60000000 /dev/zero > /tmp/big; sync', { session: 'other' })
    const error = await running
    expect([error.code, error.message]).toEqual(['environment_lost', expect.stringMatching(/it was evicted: .*ephemeral/)])
    expect(await sh(workspace, 'cat file')).toBe('file')
    expect(workspace.takeNotices().join()).toMatch(/was gone \(it was evicted: .*\) and has been made again/)
  })

  test('a Pod that runs out of memory says so, and so does a command that does', async () => {
    const workspace = await world.open('ws-oom', { resources: { limits: { memory: '256Mi' } } })
    const eaten = await workspace.shell.run({ session: 's', command: 'tail /dev/zero' })
    expect(eaten.notices.join()).toMatch(/memory/i)
    expect(await sh(workspace, 'echo alive; echo file > file')).toBe('alive')

    // The gateway is spared while there is a larger victim; here it is the largest, and no child is preferred.
    await sh(workspace, 'for pid in $(pgrep -f "gateway.mjs serve"); do echo 1000 > /proc/$pid/oom_score_adj; done')
    const eat = 'for i in $(seq 30); do python3 -c "import time; x = bytearray(14_000_000); time.sleep(60)" & done; wait'
    const error = await failure(workspace.shell.run({ session: 's', command: eat }))
    expect([error.code, error.message]).toEqual(['out_of_memory', expect.stringContaining('OOM-killed (limit 256Mi)')])
    expect(await sh(workspace, 'cat file')).toBe('file')
    expect(workspace.takeNotices().join()).toContain('out of memory')
  })

  test('a Pod that gives way to one of a higher priority', async () => {
    const name = `at-${world.space.namespace}`
    const cpus = Number(JSON.parse(world.kubectl(['get', 'nodes', '-o', 'json'])).items[0].status.allocatable.cpu)
    const priority = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value: 1_000_000 }
    world.kubectl(['create', '-f', '-'], JSON.stringify(priority))
    try {
      const half = `${Math.ceil((cpus * 1_000) / 2) + 1}m`
      const { workspace, running } = await inFlight('ws-low', { resources: { requests: { cpu: half } } })
      const container = {
        name: 'c',
        image: IMAGE,
        imagePullPolicy: 'IfNotPresent',
        command: ['sleep', '600'],
        resources: { requests: { cpu: half } },
      }
      const spec = { priorityClassName: name, terminationGracePeriodSeconds: 0, containers: [container] }
      world.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'high' }, spec }))
      const error = await running
      expect([error.code, error.message]).toEqual(['environment_lost', expect.stringMatching(/preempted|Preempt|was removed/)])
      world.kubectl(['delete', 'pod', 'high', '--force', '--grace-period=0'])
      expect(await sh(workspace, 'cat file')).toBe('file')
      expect(workspace.takeNotices().join()).toContain('has been made again')
    } finally {
      world.kubectl(['delete', 'priorityclass', name])
    }
  })

  test('a gateway that is killed ends its Pod, which is made again', async () => {
    const { workspace, running } = await inFlight('ws-daemon')
    const other = await world.backend().provision(world.spec('ws-daemon'))
    await other.exec(['sh', '-c', 'kill -KILL $(pgrep -f "[n]ode .*gateway.mjs serve" | tail -n 1)']).catch(() => {})
    const error = await running
    expect([error.code, error.message]).toEqual(['environment_lost', expect.stringContaining('it was killed')])
    expect(await sh(workspace, 'cat file')).toBe('file')
    expect(workspace.takeNotices().join()).toContain('was gone (it was killed) and has been made again')
  })

  test('a volume that somebody deletes goes with its Pod: said so, and nothing hangs', async () => {
    const { workspace } = await inFlight('ws-doomed')
    world.kubectl(['delete', 'pvc', resourceName('ws-doomed'), '--wait=false'])
    expect(await sh(workspace, 'cat file', { session: 'other' })).toBe('file')
    const error = await failure(world.open('ws-doomed', { nodeLostMs: 1_000 }))
    expect([error.code, error.message]).toEqual(['environment_gone', expect.stringContaining('is being deleted')])
    await workspace.detach()
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

  test('a rotated token is read anew', async () => {
    const workspace = await world.open('ws-token')
    const good = world.config()
    world.writeConfig(good.replace(/"token": ?"[^"]*"/, '"token":"expired"'))
    const backend = world.backend()
    expect((await failure(backend.find('ws-token'))).code).toBe('unauthenticated')
    world.writeConfig(good)
    expect(await backend.find('ws-token')).toMatchObject({ state: 'running' })
    await workspace.close()
  })
})
