import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countLineFeeds, cutAfter, cutBefore, unfinishedTail } from '../../src/lib/text.ts'

const text = fc.string({ unit: 'binary', maxLength: 60 })

describe('cuts', () => {
  it('never go through a code point', () => {
    fc.assert(
      fc.property(text, fc.nat(200), (value, at) => {
        const bytes = Buffer.from(value)
        const [before, after] = [cutBefore(bytes, at), cutAfter(bytes, at)]
        expect(bytes.subarray(0, before).toString() + bytes.subarray(before).toString()).toBe(bytes.toString())
        expect(bytes.subarray(0, after).toString() + bytes.subarray(after).toString()).toBe(bytes.toString())
        expect(before).toBeLessThanOrEqual(Math.min(at, bytes.length))
      }),
    )
  })

  it('know an unfinished end', () => {
    const emoji = Buffer.from('a😀')
    expect([1, 2, 3, 4, 5].map(length => unfinishedTail(emoji.subarray(0, length)))).toEqual([0, 1, 2, 3, 0])
    expect(unfinishedTail(Buffer.from([0xff]))).toBe(0)
  })
})

describe('countLineFeeds', () => {
  it('counts as a plain loop does, at any alignment', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.nat(5), (bytes, skip) => {
        for (let i = 0; i < bytes.length; i += 3) bytes[i] = 10
        const part = bytes.subarray(skip)
        expect(countLineFeeds(part)).toBe(part.filter(byte => byte === 10).length)
      }),
    )
  })

  it('does not overflow on long runs', () => {
    expect(countLineFeeds(Buffer.alloc(1_000_003, '\n'))).toBe(1_000_003)
  })
})
