import { expect, test } from 'vitest'
import { annotationsOf, labelsOf, newRecord, recordOf, selector } from '../../../src/backends/kubernetes/record.ts'

const spec = { id: 'ws/ä', name: 'n', owner: { user: 'u@x', agent: '', session: 's'.repeat(99) }, env: { A: '1' }, ttlMs: 5 }

test('a record comes back from what was written, whatever its texts', () => {
  const record = newRecord(spec)
  expect(recordOf({ labels: labelsOf(record), annotations: annotationsOf(record) })).toEqual(record)
  expect(Date.parse(record.created)).toBeGreaterThan(0)
})

test('what is not ours has none', () => {
  const record = newRecord(spec)
  expect(recordOf(undefined)).toBeUndefined()
  expect(recordOf({ annotations: annotationsOf(record) })).toBeUndefined()
  const labels = labelsOf(record)
  expect(recordOf({ labels, annotations: { 'atelier.record': '{' } })).toBeUndefined()
  expect(recordOf({ labels, annotations: { 'atelier.record': '{"id":1}' } })).toBeUndefined()
})

test('the selector of an owner finds what is labelled for him', () => {
  const labels = labelsOf(newRecord(spec))
  for (const part of selector({ user: 'u@x', session: spec.owner.session }).split(',')) {
    const [key = '', value] = part.split('=')
    expect(labels[key]).toBe(value)
  }
  expect(selector()).toBe('app.kubernetes.io/managed-by=atelier')
})
