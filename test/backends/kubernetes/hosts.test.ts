import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildHost } from '../host.ts'
import { createWorld, failure, IMAGE, MISSING, onCluster, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onCluster('kubernetes: several hosts, and hosts that die'), () => {
  let world: World

  beforeAll(() => {
    world = createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  test('a host killed in mid-command: the next one finds the Pod, its jobs and their output', async () => {
    const { space, script, dataDir } = world
    const settings = { kubeconfig: space.kubeconfig, dataDir, image: IMAGE }
    const start = await buildHost(world.base)
    const first = start({ backend: 'kubernetes', settings, id: 'ws-host', script, work: 'long' })
    const { job } = JSON.parse(await first.said) as { job: string }
    const before = world.pod('ws-host').metadata?.uid
    first.kill('SIGKILL')
    await once(first, 'exit')

    const workspace = await world.open('ws-host')
    expect(workspace.info.incarnation).toBe(before)
    await expect.poll(async () => (await workspace.shell.jobs()).length, { timeout: 20_000 }).toBe(2)
    const command = (await workspace.shell.jobs()).find(each => each.id !== job)
    const read = async (id: string) => {
      const { job: info, output } = await workspace.shell.readJob({ id, session: 's', offset: 0, waitMs: 1_000 })
      return `${info.status} ${output.head}${output.tail}`
    }
    await expect.poll(() => read(command?.id ?? ''), { timeout: 30_000 }).toMatch(/^exited begun\s+done/)
    await expect.poll(() => read(job), { timeout: 30_000 }).toMatch(/^exited tick 1[\s\S]*tick 8/)
  })

  test('a close or a deletion that its caller gave up does nothing more', async () => {
    const environment = await world.backend().provision(world.spec('ws-given-up'))
    const signal = AbortSignal.abort()
    expect(await failure(environment.suspend({ signal }))).toMatchObject({ code: 'cancelled' })
    expect(await failure(environment.destroy({ signal }))).toMatchObject({ code: 'cancelled' })
    expect(world.left()).toHaveLength(2)
    const late = new AbortController()
    const gone = failure(environment.destroy({ signal: late.signal }))
    await expect.poll(() => world.left().length, { timeout: 30_000 }).toBe(1)
    late.abort()
    expect(await gone).toMatchObject({ code: 'cancelled' })
    expect(world.left()).toHaveLength(1)
  })

  test('ten hosts whose Pod can’t start all say why, and leave nothing', async () => {
    const opening = Array.from({ length: 10 }, () =>
      world.open('ws-none', { nodeSelector: { nowhere: 'x' }, startTimeoutMs: 2_000 }),
    )
    const ends = await Promise.allSettled(opening)
    expect(new Set(ends.map(end => (end.status === 'rejected' ? end.reason.code : 'opened')))).toEqual(new Set(['unavailable']))
    expect(world.left()).toEqual([])
  })
})
