import { Sandbox } from 'e2b'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { metadataOf } from '../../../src/backends/e2b/record.ts'
import { later } from '../../support/clock.ts'
import { leftovers } from '../../support/leftovers.ts'
import { createWorld, MISSING, OWNER, onStandIn, type World } from './support.ts'

const HOUR_MS = 3_600_000

describe.skipIf(MISSING !== '')(onStandIn('e2b: what hosts left that never came back'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  /** A sandbox as a host makes it that dies before it hands it out; with a script, as one that was given away first. */
  const made = async (id: string, { created = new Date(), script = '' } = {}): Promise<Sandbox> => {
    const record = { id, name: id, owner: OWNER, maker: 'other', template: 'base', workdir: '/home/user/workspace' }
    const metadata = metadataOf({ ...record, created: created.toISOString() })
    const sandbox = await Sandbox.create('base', { ...world.account, timeoutMs: 2 * HOUR_MS, metadata } as object)
    if (script !== '') await sandbox.commands.run(script)
    return sandbox
  }
  const states = async () =>
    Object.fromEntries((await world.sandboxes()).map(({ sandboxId, state }) => [sandboxId, state])) as Record<string, string>

  test('a sandbox that nobody was given goes, paused or not; one that anyone was given stays', async () => {
    const [half, paused, given] = await Promise.all([
      made('ws-half'),
      made('ws-paused'),
      made('ws-given', { script: 'mkdir -p /tmp/.atelier-0123456789ab' }),
    ])
    await Promise.all([paused.pause(), given.pause()])
    expect(await leftovers(world.backend(), { dryRun: false })).toEqual([])
    const reason = 'its making was broken off, and nobody was given it'
    const expected = [half, paused].map(({ sandboxId: name }) => ({ kind: 'sandbox', name, action: 'remove', reason }))

    const found = await later(HOUR_MS, () => leftovers(world.backend(), { dryRun: true }))
    expect(found).toHaveLength(2)
    expect(found).toEqual(expect.arrayContaining(expected))
    expect(await states()).toEqual({ [half.sandboxId]: 'running', [paused.sandboxId]: 'paused', [given.sandboxId]: 'paused' })

    expect(await later(HOUR_MS, () => leftovers(world.backend(), { dryRun: false }))).toHaveLength(2)
    expect(await states()).toEqual({ [given.sandboxId]: 'paused' })
  })

  test('of several of one workspace, the empty ones that came later go; what holds files or is in use stays until it is removed', async () => {
    const at = (minute: number) => ({ created: new Date(Date.now() - 600_000 + minute * 60_000) })
    const [first, empty, data, used] = await Promise.all([
      made('ws-many', at(0)),
      made('ws-many', at(1)),
      made('ws-many', { ...at(2), script: 'mkdir -p workspace && echo kept > workspace/file' }),
      made('ws-many', { ...at(3), script: 'mkdir -p /tmp/.atelier-0123456789ab && touch /tmp/.atelier-0123456789ab/s' }),
    ])
    await data.pause()
    const found = await later(HOUR_MS, () => leftovers(world.backend(), { dryRun: false }))
    expect(found).toMatchObject([{ name: empty.sandboxId, reason: expect.stringContaining('came first, and it is empty') }])
    expect(await states()).toEqual({ [first.sandboxId]: 'running', [data.sandboxId]: 'paused', [used.sandboxId]: 'running' })

    await world.backend().remove?.({ id: 'ws-many', owner: { ...OWNER, user: 'else' } })
    expect(Object.keys(await states())).toHaveLength(3)
    await world.backend().remove?.({ id: 'ws-many', owner: OWNER })
    expect(await states()).toEqual({})
  })

  test('nothing of a workspace that is just being made is touched, whatever else it has', async () => {
    await Promise.all([made('ws-young'), made('ws-young', { created: new Date(Date.now() - HOUR_MS) })])
    expect(await leftovers(world.backend(), { dryRun: false })).toEqual([])
    expect(Object.keys(await states())).toHaveLength(2)
  })
})
