import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../src/lib/log.ts'
import { ResourceListWatch } from '../../src/mcp/resource-list-watch.ts'
import type { SessionContext } from '../../src/mcp/session-context.ts'
import type { Watches } from '../../src/workspace/watches.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'
import { fakeWatches, fakeWorkspace } from './support.ts'

const SCOPE = { user: 'u', agent: '', session: '' }
const LIST = [{ uri: 'workspace://w1', name: 'one' }]

function bench(notices: string[] = []) {
  const { started, watches } = fakeWatches(notices)
  const others = new Map<string, Workspace>()
  const state = { tries: 0, failing: false, lost: false }
  const start: Watches['start'] = async (path, watcher) => {
    state.tries += 1
    if (state.failing) throw new Error('not now')
    return watches.start(path, watcher)
  }
  const workspace = Object.defineProperty(fakeWorkspace({ id: 'w1', watches: { ...watches, start } }), 'lost', {
    get: () => state.lost,
  })
  const logged: string[] = []
  const manager = { opened: (id: string) => (id === 'w1' ? workspace : others.get(id)) }
  const log = (_level: string, text: string) => void logged.push(text)
  const context = { services: { manager, logger: silentLogger }, log } as unknown as SessionContext
  const watch = new ResourceListWatch(context, { list: async () => LIST, changed: () => {} })
  const look = async () => {
    watch.touch()
    await vi.advanceTimersByTimeAsync(2_000)
  }
  return { watch, started, state, look, logged, others }
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

  it('says once that changes are told late, at the start or later, and that they are not told at all', async () => {
    const { watch, started, state, look, logged } = bench(['/w/w1 is looked at every second.'])
    state.failing = true
    watch.shown(SCOPE, LIST)
    await look()
    await look()
    expect(logged).toEqual(['New files in /w/w1 are not told of: not now'])
    state.failing = false
    await look()
    started.get('/w/w1')?.noticed('/w/w1 is looked at every second, for another reason.')
    started.get('/w/w1')?.ended('the workspace was closed')
    await look()
    expect(logged.slice(1)).toEqual(['/w/w1 is looked at every second.', '/w/w1 is looked at every second, for another reason.'])
    watch.close()
  })

  it('watches a bounded number of workspaces, and says so', async () => {
    const { watch, logged, others } = bench()
    const ids = Array.from({ length: 33 }, (_, at) => `o${at}`)
    for (const id of ids) others.set(id, fakeWorkspace({ id }))
    watch.shown(
      SCOPE,
      ids.slice(0, 32).map(id => ({ uri: `workspace://${id}` })),
    )
    expect(logged).toEqual([])
    watch.shown(
      SCOPE,
      ids.map(id => ({ uri: `workspace://${id}` })),
    )
    expect(logged).toEqual([expect.stringMatching(/Only 32 workspaces are watched/)])
    watch.close()
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
