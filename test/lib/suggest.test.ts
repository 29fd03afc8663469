import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/lib/suggest.ts'

describe('nearest', () => {
  const flags = ['command', 'timeout', 'file_path', '-i', 'output_mode']

  it.each([
    ['comand', 'command'],
    ['TIMEOUT', 'timeout'],
    ['filepath', 'file_path'],
    ['path', 'file_path'],
    ['i', '-i'],
    ['mode', 'output_mode'],
  ])('finds for %s: %s', (name, expected) => {
    expect(nearest(name, flags)).toBe(expected)
  })

  it.each(['zebra', '', '-', 'xy'])('finds nothing near %j', name => {
    expect(nearest(name, flags)).toBeUndefined()
  })

  it('gives a candidate itself, and nothing else than a candidate', () => {
    const words = fc.uniqueArray(fc.stringMatching(/^[a-z]{4,10}$/), { minLength: 1 })
    fc.assert(
      fc.property(words, fc.string(), (candidates, name) => {
        expect(nearest(candidates[0]!, candidates)).toBe(candidates[0])
        expect([undefined, ...candidates]).toContain(nearest(name, candidates))
      }),
    )
  })
})
