import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NAME_LIMIT, nestedName, plainPart } from '../../../src/mcp/nested/names.ts'

describe('names of nested tools', () => {
  it('are prefixed with the server', () => {
    expect(nestedName('git', 'status')).toBe('mcp__git__status')
    expect(nestedName('my-server', '_private')).toBe('mcp__my-server___private')
  })

  it('end with a hash where characters had to go', () => {
    expect(nestedName('git', 'a.b/c')).toMatch(/^mcp__git__a_b_c_[0-9a-f]{8}$/)
    expect(nestedName('git', 'a_b/c')).not.toBe(nestedName('git', 'a.b/c'))
    expect(nestedName('größe', 'x')).toMatch(/^mcp__gr__e__x_[0-9a-f]{8}$/)
  })

  it('end with a hash where they would be too long', () => {
    const long = 'x'.repeat(60)
    expect(nestedName('s', long)).toHaveLength(NAME_LIMIT)
    expect(nestedName('s', `${long}1`)).not.toBe(nestedName('s', `${long}2`))
  })

  it('can be read in one way only', () => {
    expect(nestedName('a', 'b__c')).not.toBe(nestedName('a__b', 'c'))
    expect(nestedName('a', '_b')).not.toBe(nestedName('a_', 'b'))
  })

  it('are legal, short and never shared by two tools, whatever the names are', () => {
    const name = fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[ab_]{1,6}$/), fc.stringMatching(/^[a-z_./-]{1,50}$/))
    fc.assert(
      fc.property(fc.tuple(name, name), fc.tuple(name, name), (one, other) => {
        const shown = nestedName(...one)
        expect(shown).toMatch(/^[A-Za-z0-9_-]{1,48}$/)
        if (one[0] !== other[0] || one[1] !== other[1]) expect(nestedName(...other)).not.toBe(shown)
        const plain = plainPart(shown, one[0])
        if (plain !== undefined && !/_[0-9a-f]{8}$/.test(shown)) expect(plain).toBe(one[1])
      }),
      { numRuns: 2_000 },
    )
  })
})
