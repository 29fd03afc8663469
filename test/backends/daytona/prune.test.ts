import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { labelsOf, newRecord, sandboxName } from '../../../src/backends/daytona/record.ts'
import { later } from '../../support/clock.ts'
import { leftovers } from '../../support/leftovers.ts'
import { createWorld, failure, MISSING, onStandIn, type World } from './support.ts'

const HOUR_MS = 3_600_000

describe.skipIf(MISSING !== '')(onStandIn('daytona: what hosts left that never came back'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  /** A sandbox as a host makes it that dies before it hands it out. */
  const made = async (id: string, image?: string) => {
    const record = newRecord(world.spec(id), { workdir: '/workspace', image: 'default', attempt: 'other' })
    // The service's own clock is this process's.
    const params = { name: sandboxName(id), labels: labelsOf(record), autoStopInterval: 0 }
    return image === undefined ? world.client.create(params) : world.client.create({ ...params, image })
  }
  const states = async () => Object.fromEntries((await world.sandboxes()).map(({ name, state }) => [name, state]))

  test('a sandbox that nobody was given goes once it is old, whatever its state; a given one never does', async () => {
    const [half, stopped, broken] = await Promise.all([made('ws-half'), made('ws-stopped'), made('ws-broken')])
    const host = world.backend({ autoStopMinutes: 0 })
    const [, lost] = await Promise.all(['ws-given', 'ws-lost'].map(id => host.provision(world.spec(id))))
    await stopped.stop()
    for (const id of [broken.id, lost?.info.incarnation ?? '']) await world.behind('break', id)
    expect(await leftovers(world.backend(), { dryRun: false })).toEqual([])

    const reason = 'its making was broken off, and nobody was given it'
    const expected = [half, stopped, broken].map(({ name }) => ({ kind: 'sandbox', name, action: 'remove', reason }))
    const found = await later(HOUR_MS, () => leftovers(world.backend(), { dryRun: true }))
    expect(found).toHaveLength(3)
    expect(found).toEqual(expect.arrayContaining(expected))
    expect(Object.keys(await states())).toHaveLength(5)

    expect(await later(HOUR_MS, () => leftovers(world.backend(), { dryRun: false }))).toHaveLength(3)
    expect(await states()).toEqual({ [sandboxName('ws-given')]: 'started', [sandboxName('ws-lost')]: 'error' })
  })

  test('one whose image was not built goes, with the words of the service', async () => {
    await failure(made('ws-unbuilt', 'no-such-image:none'))
    expect(await states()).toEqual({ [sandboxName('ws-unbuilt')]: 'build_failed' })
    const found = await later(HOUR_MS, () => leftovers(world.backend(), { dryRun: false }))
    expect(found).toMatchObject([
      { name: sandboxName('ws-unbuilt'), reason: expect.stringMatching(/^its image was not built: ./) },
    ])
    expect(await states()).toEqual({})
  })

  test('what a host takes over is its own from then on; what somebody works in is left alone', async () => {
    const taken = await made('ws-taken')
    await world.backend().provision(world.spec('ws-taken'))
    const busy = await made('ws-busy')
    await busy.process.createPty({ id: 'a-host', cols: 80, rows: 24, onData: () => {} })
    expect(await later(HOUR_MS, () => leftovers(world.backend(), { dryRun: false }))).toEqual([])
    expect(Object.keys(await states())).toEqual([taken.name, busy.name])
  })

  test('an operator who allows long starts is not overtaken, nor is another namespace', async () => {
    await made('ws-slow')
    const patient = world.backend({ startTimeoutMs: HOUR_MS })
    expect(await later(HOUR_MS, () => leftovers(patient, { dryRun: false }))).toEqual([])
    const other = world.backend({ namespace: 'other' })
    expect(await later(HOUR_MS, () => leftovers(other, { dryRun: false }))).toEqual([])
    expect(Object.keys(await states())).toHaveLength(1)
  })

  test('a workspace whose sandbox is broken can be removed; another user can not do that', async () => {
    const { info } = await world.backend().provision(world.spec('ws-gone'))
    await world.behind('break', info.incarnation ?? '')
    await world.backend().remove?.({ ...info, owner: { ...info.owner, user: 'else' } })
    expect(await states()).toEqual({ [sandboxName('ws-gone')]: 'error' })
    await world.backend().remove?.(info)
    expect(await states()).toEqual({})
    await world.backend().remove?.(info)
  })
})
