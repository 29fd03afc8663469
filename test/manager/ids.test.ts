import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkName, checkRef, checkScope, directoryId, freshName, isId, namedId } from '../../src/manager/ids.ts'
import { ISOLATION_POLICIES } from '../../src/manager/scope.ts'

const id = (policy: (typeof ISOLATION_POLICIES)[number], user: string, agent: string, session: string, name = 'default') =>
  namedId(policy, 'local', { user, agent, session }, name)

test.each([
  ['a NUL', 'a\0b'],
  ['half a character', '\ud800'],
  ['more than 256 characters', 'x'.repeat(257)],
])('a scope is not named with %s', (_what, name) => {
  for (const part of ['user', 'agent', 'session']) {
    const scope = { user: 'u', agent: '', session: '', [part]: name }
    expect(() => checkScope(scope)).toThrow(`can't be the name of a ${part}`)
  }
})

describe('ids', () => {
  test('have one short form that labels and names may hold', () => {
    expect(id('per_agent', 'u', 'a', 's')).toMatch(/^ws-[a-z2-7]{20}$/)
    expect(isId(directoryId('local', 'u', '/x'))).toBe(true)
    // A change here would lose every workspace that there is.
    expect(id('per_agent', 'u', 'a', 's')).toBe('ws-u4im2o32n4qitlhs75bb')
  })

  test('differ by what the policy isolates and by nothing else', () => {
    expect(id('per_user', 'u', 'a', 's')).toBe(id('per_user', 'u', 'b', 't'))
    // A change here would lose every workspace that there is.
    expect(id('per_agent', 'u', 'a', 's')).toBe(id('per_agent', 'u', 'a', 't'))
    expect(id('per_agent', 'u', 'a', 's')).not.toBe(id('per_agent', 'u', 'b', 's'))
    expect(id('per_session', 'u', 'a', 's')).not.toBe(id('per_session', 'u', 'a', 't'))
    expect(id('per_session', 'u', 'a', 's')).toBe(id('per_session', 'u', 'a', 's'))
    expect(id('per_user', 'user', '', '')).not.toBe(id('per_agent', 'user', '', ''))
  })

  test('two tuples share an id only when they are equal', () => {
    const part = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('', ':', '::', '1:a', 'a::b'))
    const tuple = fc.tuple(fc.constantFrom(...ISOLATION_POLICIES), part, part, part)
    fc.assert(
      fc.property(tuple, tuple, (a, b) => {
        const seen = ([policy, user, agent, session]: typeof a) =>
          JSON.stringify([policy, user, policy === 'per_user' ? '' : agent, policy === 'per_session' ? session : ''])
        expect(id(...a) === id(...b)).toBe(seen(a) === seen(b))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('names', () => {
  test.each(['a', 'my-project_2.0', '-x', 'A'.repeat(64), freshName()])('%j is one', name => {
    expect(() => checkName(name)).not.toThrow()
    expect(() => checkRef(name)).not.toThrow()
  })

  test.each(['', '.', '..', '../x', 'a/b', 'a\\b', '.hidden', 'a b', 'é', 'a\n', 'A'.repeat(65)])('%j is none', name => {
    expect(() => checkName(name)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    expect(() => checkRef(name)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })

  test('the form of an id is refused as a name and taken as a reference', () => {
    expect(() => checkName(directoryId('local', 'u', '/x'))).toThrow(/form of an id/)
    expect(() => checkRef(directoryId('local', 'u', '/x'))).not.toThrow()
  })
})
