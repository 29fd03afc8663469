import { Sandbox } from 'e2b'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { metadataOf } from '../../../src/backends/e2b/record.ts'
import { createWorld, MISSING, OWNER, onStandIn, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onStandIn('e2b: hosts that come at once'), () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  /** A sandbox as another host would have made it. */
  const other = async (id: string, created: string) => {
    const record = { id, name: id, owner: OWNER, created, maker: 'other', template: 'base', workdir: '/home/user/workspace' }
    return Sandbox.create('base', { ...world.account, timeoutMs: 60_000, metadata: metadataOf(record) } as object)
  }

  test('where lists lag, those who were told different things agree at the next attach, and no data is lost', async () => {
    world.faults.modes = { listLagMs: 60_000 }
    const first = await world.open('ws-lag')
    await sh(first, 'echo first > file')
    const second = await world.open('ws-lag')
    await sh(second, 'echo second > file')
    expect(second.info.incarnation).not.toBe(first.info.incarnation)
    await Promise.all([first.close(), second.close()])
    world.faults.modes = {}
    const third = await world.open('ws-lag')
    expect(third.info.incarnation).toBe(first.info.incarnation)
    expect(await sh(third, 'cat file')).toBe('first')
    expect(world.warnings.join()).toContain(`a second sandbox, ${second.info.incarnation}`)
    expect(await world.sandboxes()).toHaveLength(2)
    // What holds data is left as it was.
    expect(await world.sandboxes()).toContainEqual(
      expect.objectContaining({ sandboxId: second.info.incarnation, state: 'paused' }),
    )
    await third.destroy()
    expect(await world.sandboxes()).toEqual([])
  })

  test('of two, the older counts; an empty loser goes, whoever made it', async () => {
    const [younger, older] = await Promise.all([
      other('ws-loser', '2026-02-01T00:00:00.000Z'),
      other('ws-loser', '2026-01-01T00:00:00.000Z'),
    ])
    const environment = await world.backend().provision(world.spec('ws-loser'))
    expect(environment.info.incarnation).toBe(older.sandboxId)
    expect(await world.sandboxes()).toMatchObject([{ sandboxId: older.sandboxId }])
    expect(younger.sandboxId).not.toBe(older.sandboxId)
  })

  test('what a host left that died on the way is used by the next one', async () => {
    const left = await other('ws-died', '2026-01-01T00:00:00.000Z')
    const workspace = await world.open('ws-died')
    expect(workspace.info.incarnation).toBe(left.sandboxId)
    expect(await sh(workspace, 'pwd')).toBe('/home/user/workspace')
  })

  test("another user's sandbox of the same id is not touched", async () => {
    const owner = { user: 'else', agent: '', session: '' }
    const theirs = await world.backend().provision(world.spec('ws-same', { owner }))
    const ours = await world.backend().provision(world.spec('ws-same'))
    expect(ours.info.incarnation).not.toBe(theirs.info.incarnation)
    await ours.destroy()
    expect(await world.sandboxes()).toMatchObject([{ sandboxId: theirs.info.incarnation }])
  })
})
