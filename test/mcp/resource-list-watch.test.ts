import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../src/lib/log.ts'
import { ResourceListWatch } from '../../src/mcp/resource-list-watch.ts'
import type { SessionContext } from '../../src/mcp/session-context.ts'
import type { Watches } from '../../src/workspace/watches.ts'
import { fakeWatches, fakeWorkspace } from './support.ts'

const SCOPE = { user: 'u', agent: '', session: '' }
const LIST = [{ uri: 'workspace://w1', name: 'one' }]

function bench() {
  const { started, watches } = fakeWatches()
  const state = { tries: 0, failing: false, lost: false }
  const start: Watches['start'] = async (path, watcher) => {
    state.tries += 1
    if (state.failing) throw new Error('not now')
    return watches.start(path, watcher)
  }
  const workspace = Object.defineProperty(fakeWorkspace({ id: 'w1', watches: { ...watches, start } }), 'lost', {
    get: () => state.lost,
  })
  const context = { services: { manager: { opened: () => workspace }, logger: silentLogger } } as unknown as SessionContext
  const watch = new ResourceListWatch(context, { list: async () => LIST, changed: () => {} })
  const look = async () => {
    watch.touch()
    await vi.advanceTimersByTimeAsync(2_000)
  }
  return { watch, started, state, look }
}

describe('the watch of the list of resources', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('tries again to watch a workspace where that failed, and once it is watched no more', async () => {
    const { watch, started, state, look } = bench()
    state.failing = true
    watch.shown(SCOPE, LIST)
    await vi.advanceTimersByTimeAsync(0)
    expect(started.size).toBe(0)
    state.failing = false
    await look()
    expect([...started.keys()]).toEqual(['/w/w1'])
    await look()
    expect(state.tries).toBe(2)
    watch.close()
    expect(started.size).toBe(0)
  })

  it('starts no environment that was lost', async () => {
    const { watch, state, look } = bench()
    state.lost = true
    watch.shown(SCOPE, LIST)
    await look()
    expect(state.tries).toBe(0)
    state.lost = false
    await look()
    expect(state.tries).toBe(1)
    watch.close()
  })
})
