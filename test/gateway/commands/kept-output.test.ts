import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { RawTail } from '../../../src/gateway/commands/raw-tail.ts'
import { type Fixture, fixture } from './service-fixture.ts'

describe('output beyond what is shown', () => {
  let f: Fixture
  afterEach(async () => {
    vi.useRealTimers()
    await f.close()
  })

  it('is logged whole, and its shown end is the end of it', async () => {
    f = await fixture()
    const { output } = await f.run('for i in 1 2 3; do seq -f "line %g é" 1 200000; done; printf last')
    const log = readFileSync(output.log as string, 'utf8')
    expect(Buffer.byteLength(log)).toBe(output.totalBytes)
    expect(output.totalLines).toBe(600_001)
    expect(log.startsWith(output.head)).toBe(true)
    expect(log.endsWith(output.tail)).toBe(true)
    expect(output.tail.endsWith('line 200000 é\nlast')).toBe(true)
    const shown = Buffer.byteLength(output.head) + Buffer.byteLength(output.tail)
    expect(output.omittedBytes).toBe(output.totalBytes - shown)
    expect(shown).toBeGreaterThan(29_900)
  }, 60_000)

  it('shows the end without a line end, too', async () => {
    f = await fixture()
    const { output } = await f.run('head -c 2000000 /dev/zero | tr "\\\\0" x; printf end')
    expect(output).toMatchObject({ totalBytes: 2_000_003, totalLines: 1 })
    expect(output.tail).toMatch(/^x{14,}end$/)
  }, 60_000)

  it('is removed a day later in a gateway that goes on, but not before', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    f = await fixture()
    const log = (id: string, hours: number): string => {
      mkdirSync(join(f.jobsDir, id), { recursive: true })
      const path = join(f.jobsDir, id, 'log')
      writeFileSync(path, 'kept')
      const at = Date.now() / 1000 - hours * 3600
      utimesSync(path, at, at)
      return path
    }
    const [old, recent] = [log('aaaaaaaaaa', 25), log('bbbbbbbbbb', 23)]
    vi.advanceTimersByTime(3600 * 1000)
    await vi.waitFor(() => expect(existsSync(old)).toBe(false), 10_000)
    expect(existsSync(recent)).toBe(true)
  }, 30_000)
})

describe('a raw tail', () => {
  it('holds the last bytes, however they came', () => {
    for (const sizes of [[3], [5, 5], [8], [3, 4, 9, 1], [20, 3]]) {
      const tail = new RawTail(8)
      let all = Buffer.alloc(0)
      for (const size of sizes) {
        const part = Buffer.from(Array.from({ length: size }, (_, index) => all.length + index))
        tail.push(part)
        all = Buffer.concat([all, part])
      }
      const { bytes, dropped } = tail.take()
      expect(bytes).toEqual(all.subarray(Math.max(0, all.length - 8)))
      expect(dropped).toBe(Math.max(0, all.length - 8))
    }
  })
})
