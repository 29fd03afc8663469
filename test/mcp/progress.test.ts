import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createProgress } from '../../src/mcp/progress.ts'

describe('progress', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => vi.useRealTimers())

  it('is limited to ten messages a second, and loses nothing of a slow stream', () => {
    vi.advanceTimersByTime(1_000)
    const sent: { progress: number; message: string }[] = []
    const progress = createProgress(part => sent.push(part))
    for (let index = 0; index < 100; index++) {
      progress.push(`${index},`)
      vi.advanceTimersByTime(10)
    }
    progress.end()
    progress.push('late')
    expect(sent.length).toBeLessThanOrEqual(11)
    expect(sent.map(part => part.message).join('')).toBe(Array.from({ length: 100 }, (_, index) => `${index},`).join(''))
    expect(sent.at(-1)?.progress).toBe(290)
  })

  it('keeps the newest part of a burst, never half a character', () => {
    vi.advanceTimersByTime(1_000)
    const sent: { progress: number; message: string }[] = []
    const progress = createProgress(part => sent.push(part))
    progress.push('first')
    progress.push(`${'😀'.repeat(10_000)}!`)
    progress.end()
    expect(sent[1]?.message).toMatch(/^…(😀)+!$/u)
    expect(sent[1]?.message.length).toBeLessThanOrEqual(8_193)
    expect(sent[1]?.progress).toBe(20_006)
  })
})
