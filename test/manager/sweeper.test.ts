import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { JobInfo } from '../../src/gateway/protocol.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { createPlace, FakeOpener, scope } from './fakes.ts'

let place: ReturnType<typeof createPlace>
let opener: FakeOpener

beforeEach(() => {
  place = createPlace()
  opener = new FakeOpener()
})
afterEach(() => place.remove())

const ttlMs = 100
/** Several rounds of the sweeper. */
const aWhile = () => sleep(400)
const closed = () => vi.waitFor(() => expect(opener.built[0]?.told).toEqual(['close']), { timeout: 15_000 })

describe('an idle workspace', () => {
  test('is closed after its time, and built again when needed', async () => {
    const manager = place.manager(opener, { ttlMs })
    const lease = await manager.acquire(scope())
    lease.release()
    await closed()
    using again = await manager.acquire(scope())
    expect(again.workspace).not.toBe(lease.workspace)
    expect(opener.built.map(each => each.options.notices)).toEqual([
      [],
      [expect.stringMatching(/"default" was closed meanwhile \(it was idle\)/)],
    ])
  })

  test('one of two is closed, the used one stays', async () => {
    const manager = place.manager(opener, { ttlMs })
    ;(await manager.acquire(scope('u', 'idle'))).release()
    using used = await manager.acquire(scope('u', 'used'))
    await closed()
    expect(manager.opened(used.workspace.id)).toBe(used.workspace)
  })

  test('whose environment is gone is closed, too', async () => {
    const manager = place.manager(opener, { ttlMs })
    ;(await manager.acquire(scope())).release()
    opener.built[0]!.status = () => Promise.reject(new WorkspaceError('environment_lost', 'away'))
    await closed()
  })
})

describe('a busy workspace is never closed', () => {
  test('while a lease is held; releasing twice counts once', async () => {
    const manager = place.manager(opener, { ttlMs })
    const [first, second] = [await manager.acquire(scope()), await manager.acquire(scope())]
    first.release()
    first.release()
    await aWhile()
    expect(opener.built[0]?.told).toEqual([])
    second.release()
    await closed()
  })

  test('while calls are in flight', async () => {
    const manager = place.manager(opener, { ttlMs })
    ;(await manager.acquire(scope())).release()
    opener.built[0]!.inFlight = 1
    await aWhile()
    expect(opener.built[0]?.told).toEqual([])
    opener.built[0]!.inFlight = 0
    await closed()
  })

  test('while jobs run', async () => {
    const manager = place.manager(opener, { ttlMs })
    ;(await manager.acquire(scope())).release()
    opener.built[0]!.running = [{ id: 'j' } as JobInfo]
    await aWhile()
    expect(opener.built[0]?.told).toEqual([])
    opener.built[0]!.running = []
    await closed()
  })

  test('when somebody comes while the workspace is asked', async () => {
    const manager = place.manager(opener, { ttlMs })
    ;(await manager.acquire(scope())).release()
    const built = opener.built[0]!
    const status = built.status
    let lease: Disposable | undefined
    built.status = async () => {
      lease ??= await manager.acquire(scope())
      return status()
    }
    await vi.waitFor(() => expect(lease).toBeDefined(), { timeout: 15_000 })
    await aWhile()
    expect(built.told).toEqual([])
    lease?.[Symbol.dispose]()
  })
})

test('the maximum life ends even a busy one', async () => {
  const manager = place.manager(opener, { maxLifeMs: ttlMs })
  using _held = await manager.acquire(scope())
  await closed()
  expect(manager.opened(opener.built[0]!.id)).toBeUndefined()
})
