import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WaitingLine } from '../../src/cli/waiting-line.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const terminal = (isTTY: boolean) => {
  const written: string[] = []
  return { written, output: { isTTY, write: (text: string) => written.push(text) } }
}

test('names on a terminal what is waited for and since when, and goes', () => {
  const { written, output } = terminal(true)
  {
    using line = new WaitingLine(output)
    line.show('docker: create')
    vi.advanceTimersByTime(2_000)
    expect(written.at(-1)).toBe('\r\u001b[K  ...   docker: create (2 s)')
  }
  expect(written.at(-1)).toBe('\r\u001b[K')
  expect(vi.getTimerCount()).toBe(0)
})

test('writes nothing where there is no terminal', () => {
  const { written, output } = terminal(false)
  using line = new WaitingLine(output)
  line.show('docker: create')
  expect([written, vi.getTimerCount()]).toEqual([[], 0])
})
