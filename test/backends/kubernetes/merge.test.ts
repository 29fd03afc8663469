import { expect, test } from 'vitest'
import { merge } from '../../../src/backends/kubernetes/merge.ts'

test('objects merge field by field, named lists by name, other lists as a whole; null takes out', () => {
  const base = { a: { b: 1, c: 2 }, list: [1, 2], named: [{ name: 'x', v: 1, w: { k: 1 } }, { name: 'y' }], gone: true }
  const patch = { a: { c: 3, d: { e: null, f: 1 } }, list: [9], named: [{ name: 'x', v: 2, w: null }, { name: 'z' }], gone: null }
  const before = structuredClone([base, patch])
  expect(merge(base, patch)).toEqual({
    a: { b: 1, c: 3, d: { f: 1 } },
    list: [9],
    named: [{ name: 'x', v: 2 }, { name: 'y' }, { name: 'z' }],
  })
  expect([base, patch]).toEqual(before)
  expect(merge({ a: 1 }, { a: undefined })).toEqual({ a: 1 })
})
