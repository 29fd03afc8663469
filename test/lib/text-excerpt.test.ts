import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextExcerpt } from '../../src/lib/text-excerpt.ts'

function excerptOf(parts: Buffer[], bounds: { headBytes: number; tailBytes: number }) {
  const excerpt = new TextExcerpt(bounds)
  for (const part of parts) excerpt.push(part)
  return excerpt.result()
}

describe('TextExcerpt', () => {
  it('keeps beginning and end, whatever the chunks', () => {
    const chunks = fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 30 })
    fc.assert(
      fc.property(chunks, fc.nat(60), fc.nat(60), (parts, headBytes, tailBytes) => {
        const whole = parts.join('')
        const bytes = Buffer.from(whole)
        const cuts = parts.map((_, i) => Math.floor((bytes.length * (i + 1)) / parts.length))
        const pieces = cuts.map((end, i) => bytes.subarray(cuts[i - 1] ?? 0, end))
        const { head, tail, omittedBytes } = excerptOf(pieces, { headBytes, tailBytes })
        expect(whole.startsWith(head)).toBe(true)
        expect(whole.endsWith(tail)).toBe(true)
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + omittedBytes).toBe(bytes.length)
        if (bytes.length <= headBytes + tailBytes) expect(head).toBe(whole)
        else expect(Buffer.byteLength(head)).toBeLessThanOrEqual(headBytes)
      }),
    )
  })

  it('begins its tail with a line, unless that is long or the last', () => {
    const tailOf = (text: string, tailBytes: number) => excerptOf([Buffer.from(text)], { headBytes: 1, tailBytes }).tail
    expect(tailOf('first line\nsecond line\nthird\n', 12)).toBe('third\n')
    expect(tailOf('first line\nsecond line\nthird\n', 18)).toBe('second line\nthird\n')
    expect(tailOf('first line\nsecond line\n', 7)).toBe('d line\n')
    expect(tailOf(`x${'y'.repeat(400)}\nend\n`, 304)).toBe(`${'y'.repeat(299)}\nend\n`)
  })

  it('makes no replacement character of an emoji at the cut', () => {
    for (let headBytes = 0; headBytes < 12; headBytes++) {
      const { head, tail } = excerptOf([Buffer.from('😀'.repeat(20))], { headBytes, tailBytes: headBytes })
      expect(head + tail).not.toContain('\ufffd')
    }
  })

  it('shows invalid bytes as replacement characters', () => {
    expect(excerptOf([Buffer.from([0x61, 0xff, 0x62])], { headBytes: 10, tailBytes: 10 }).head).toBe('a\ufffdb')
  })

  it('holds a bounded part of an endless text', () => {
    const excerpt = new TextExcerpt({ headBytes: 10, tailBytes: 10 })
    for (let i = 0; i < 200_000; i++) excerpt.push(Buffer.from('y\n'))
    expect(excerpt.result()).toEqual({ head: 'y\ny\ny\ny\ny\n', tail: 'y\ny\ny\ny\ny\n', omittedBytes: 399_980 })
  })
})
