import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../src/lib/log.ts'
import type { SessionContext } from '../../src/mcp/session-context.ts'
import { SkillWatch } from '../../src/mcp/skill-watch.ts'

const SCOPE = { user: 'u', agent: '', session: '' }
const list = async () => 'list'

function watching(first: string | undefined) {
  const state = { version: first, looks: 0, told: 0 }
  const workspace = {
    id: 'w',
    skills: {
      version: async () => {
        state.looks += 1
        return state.version
      },
    },
  }
  const manager = { defaultId: async () => 'w', opened: () => (state.version === undefined ? undefined : workspace) }
  const context = { state: {}, services: { manager, logger: silentLogger } } as unknown as SessionContext
  const watch = new SkillWatch(context, () => {
    state.told += 1
  })
  return { state, watch }
}

describe('the watch of skills', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('looks at nothing before a client was shown skills', async () => {
    const { state, watch } = watching('1')
    watch.touch()
    await vi.advanceTimersByTimeAsync(600_000)
    expect(state.looks).toBe(0)
  })

  it('tells a change once, soon', async () => {
    const { state, watch } = watching('1')
    expect(await watch.showing(SCOPE, list)).toBe('list')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(state.told).toBe(0)
    state.version = '2'
    await vi.advanceTimersByTimeAsync(2_100)
    expect(state.told).toBe(1)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(state.told).toBe(1)
    watch.close()
  })

  it('tells when the workspace that was closed is open', async () => {
    const { state, watch } = watching(undefined)
    await watch.showing(SCOPE, list)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(state.told).toBe(0)
    state.version = 'none'
    await vi.advanceTimersByTimeAsync(2_100)
    expect(state.told).toBe(1)
    watch.close()
  })

  it('does not tell of what its own first listing made', async () => {
    const { state, watch } = watching('none')
    await watch.showing(SCOPE, async () => {
      state.version = 'made'
    })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(state.told).toBe(0)
    watch.close()
  })

  it('tells who was shown one list when another shows that it is stale', async () => {
    const { state, watch } = watching('1')
    await watch.showing(SCOPE, list)
    state.version = '2'
    await watch.showing(SCOPE, list)
    expect(state.told).toBe(1)
    watch.close()
  })

  it('looks ever more rarely, and often again after a request', async () => {
    const { state, watch } = watching('1')
    await watch.showing(SCOPE, list)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(state.looks).toBeLessThan(100)
    const before = state.looks
    watch.touch()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(state.looks - before).toBeGreaterThanOrEqual(4)
    watch.close()
    const after = state.looks
    await vi.advanceTimersByTimeAsync(600_000)
    expect(state.looks).toBe(after)
  })
})
