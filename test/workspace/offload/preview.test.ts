import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headAndTail, messagesPreview } from '../../../src/workspace/offload/preview.ts'

describe('headAndTail', () => {
  it('keeps within its bounds, loses nothing that it does not count, and cuts no code point', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '\n', '😀', 'ä'), maxLength: 200 })
    fc.assert(
      fc.property(texts, fc.nat(40), fc.nat(40), (text, head, tail) => {
        const cut = headAndTail(text, { head, tail })
        expect(cut.head.length + cut.omitted + cut.tail.length).toBe(text.length)
        if (cut.omitted === 0) return
        expect(cut.head.length).toBeLessThanOrEqual(head)
        expect(cut.tail.length).toBeLessThanOrEqual(tail)
        expect(text.startsWith(cut.head) && text.endsWith(cut.tail)).toBe(true)
        expect(cut.head + cut.tail).not.toMatch(/\p{Cs}/u)
      }),
    )
  })

  it('cuts at ends of lines where they are near', () => {
    const text = Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n')
    const { head, tail } = headAndTail(text, { head: 50, tail: 50 })
    expect(head).toMatch(/^line 0\n.*\n$/s)
    expect(tail).toMatch(/^line \d+\n.*line 99$/s)
  })
})

describe('messagesPreview', () => {
  it('shows the first ones and the last, a line each', () => {
    const messages = Array.from({ length: 20 }, (_, n) => ({ role: 'user', content: `message\n${n} ${'x'.repeat(500)}` }))
    const lines = messagesPreview(messages).split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[0]).toMatch(/^user: message 0 x+…$/)
    expect(lines[3]).toBe('[… 16 more …]')
    expect(lines[4]).toMatch(/^user: message 19 /)
  })

  it('names blocks that hold no text', () => {
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image', data: 'AAAA' },
    ]
    expect(messagesPreview([{ role: 'user', content }, { type: 'reasoning' }, {}])).toBe(
      'user: look (image)\nreasoning: \nmessage: ',
    )
  })
})
