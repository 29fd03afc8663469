import fc from 'fast-check'
import { expect, test } from 'vitest'
import { labelValue, resourceName } from '../../../src/backends/kubernetes/names.ts'

const LABEL = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const HOST_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

test('any id gives a legal name, always the same, and two ids never share one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ unit: 'binary', maxLength: 300 }), (one, two) => {
      const name = resourceName(one)
      expect(name).toMatch(HOST_NAME)
      expect(name.length).toBeLessThanOrEqual(63)
      expect(resourceName(one)).toBe(name)
      if (one !== two) expect(resourceName(two)).not.toBe(name)
    }),
  )
  // What sanitising and cutting would make the same.
  const alike = ['a_b', 'a-b', 'a.b', 'A_B', `${'x'.repeat(70)}1`, `${'x'.repeat(70)}2`]
  expect(new Set(alike.map(resourceName)).size).toBe(alike.length)
})

test('any text gives a legal label; legal ones stay readable, and none can pass for another', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ unit: 'binary', maxLength: 300 }), (one, two) => {
      expect(labelValue(one)).toMatch(LABEL)
      expect(labelValue(one).length).toBeLessThanOrEqual(63)
      if (one !== two) expect(labelValue(one)).not.toBe(labelValue(two))
    }),
  )
  expect(['', 'user_1.x', 'A-b'].map(labelValue)).toEqual(['', 'user_1.x', 'A-b'])
  // One that looks like what stands for another.
  expect(labelValue(labelValue('a/b'))).not.toBe(labelValue('a/b'))
})
