import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineReader } from '../../src/mcp/line-reader.ts'
import { type LineSink, LineWriter } from '../../src/mcp/line-writer.ts'

function collect(maxBytes = 1_000) {
  const lines: string[] = []
  const tooLong: number[] = []
  const reader = new LineReader({
    maxBytes,
    onLine: line => lines.push(line.toString()),
    onTooLong: bytes => tooLong.push(bytes),
  })
  return { lines, tooLong, reader }
}

function pieces(data: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map(cut => cut % (data.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((start, index) => data.subarray(start, at[index] ?? data.length))
}

describe('LineReader', () => {
  it('gives the same lines however the bytes are split', () => {
    const line = fc.string({ unit: 'grapheme' }).filter(text => !text.includes('\n'))
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (expected, cuts) => {
        const { lines, reader } = collect()
        for (const piece of pieces(Buffer.from(expected.map(text => `${text}\n`).join('')), cuts)) reader.push(piece)
        reader.end()
        expect(lines).toEqual(expected)
      }),
    )
  })

  it('skips a line that is too long, reports it once, and goes on', () => {
    const { lines, tooLong, reader } = collect(10)
    for (const part of ['ab\n', '0123456', '789abc', 'def', '\nok\n0123456789\n']) reader.push(Buffer.from(part))
    expect(lines).toEqual(['ab', 'ok', '0123456789'])
    expect(tooLong).toHaveLength(1)
  })

  it('takes an unfinished last line at the end', () => {
    const { lines, reader } = collect()
    reader.push(Buffer.from('a\nb'))
    reader.end()
    expect(lines).toEqual(['a', 'b'])
  })

  it('puts a 50 MB line together without copying it over and over', () => {
    let got = 0
    const reader = new LineReader({ maxBytes: 64 * 1024 ** 2, onLine: line => (got = line.length), onTooLong: () => (got = -1) })
    const chunk = Buffer.alloc(1_000, 0x61)
    const started = performance.now()
    for (let index = 0; index < 50_000; index++) reader.push(chunk)
    reader.push(Buffer.from('\n'))
    expect(got).toBe(50_000_000)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

describe('LineWriter', () => {
  function sinkThatWaits() {
    const held: (() => void)[] = []
    const written: string[] = []
    const sink: LineSink = {
      write(chunk, done) {
        written.push(chunk)
        held.push(() => done())
      },
    }
    const flush = (): void => {
      for (const done of held.splice(0)) done()
    }
    return { sink, written, flush }
  }

  it('breaks once when too much waits, and writes nothing more', async () => {
    const { sink, written } = sinkThatWaits()
    const broken: string[] = []
    const writer = new LineWriter(sink, { maxQueuedBytes: 100, onBroken: reason => broken.push(reason) })
    for (let index = 0; index < 10; index++) writer.write({ text: 'x'.repeat(40) })
    expect(written).toHaveLength(1)
    expect(broken).toEqual([expect.stringContaining('does not read')])
    await writer.drained()
  })

  it('lets a single large message pass, and waits until it has left', async () => {
    const { sink, written, flush } = sinkThatWaits()
    const writer = new LineWriter(sink, { maxQueuedBytes: 100, onBroken: () => {} })
    writer.write('y'.repeat(1_000))
    let drained = false
    const done = writer.drained().then(() => {
      drained = true
    })
    expect([written.length, drained]).toEqual([1, false])
    flush()
    await done
    expect(drained).toBe(true)
  })
})
