import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { labelFilter, labelsFor, textOf } from '../../../src/backends/opensandbox/labels.ts'
import { marks, metadataFilter, metadataOf, newRecord, recordOf } from '../../../src/backends/opensandbox/record.ts'

const LABEL = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const KEY = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/

describe('opensandbox: labels', () => {
  test('any text comes back, and each label is one that the server takes', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.constantFrom('x.', 'x.a.x', 'a'.repeat(63), 'a'.repeat(64)),
    )
    fc.assert(
      fc.property(text, value => {
        const labels = labelsFor('atelier.name', value)
        expect(textOf(labels, 'atelier.name')).toBe(value)
        for (const [key, label] of Object.entries(labels)) {
          expect(key).toMatch(KEY)
          expect(label).toMatch(LABEL)
        }
      }),
    )
  })

  test('what is legal stays readable, and an empty text needs no label', () => {
    expect(labelsFor('k', 'ws-abc.1_2')).toEqual({ k: 'ws-abc.1_2' })
    expect(labelsFor('k', '')).toEqual({})
    expect(labelFilter('k', '')).toEqual({})
    expect(Object.keys(labelsFor('k', 'é'.repeat(100)))).toEqual(['k', 'k.1', 'k.2', 'k.3', 'k.4'])
  })

  test('a record comes back from its metadata, and is found by its id and its user', () => {
    const owner = { user: 'jo@example.com', agent: 'a/b c', session: '' }
    const spec = { id: 'ws-1', name: 'Ünïcode name', owner, env: { A: '1\n2', LONG: 'y'.repeat(500) } }
    const record = newRecord(spec, { maker: 'm1', workdir: '/work space', image: 'reg.io:5000/a/b:1', ttlMs: 1000 })
    const metadata = metadataOf(record)
    expect(recordOf(metadata)).toEqual(record)
    expect(recordOf({ ...metadata, ...marks(5, { handedOut: true }) })).toEqual({ ...record, handedOut: 5, seen: 5 })
    expect(metadata).toMatchObject(metadataFilter({ id: 'ws-1' }))
    expect(metadata).toMatchObject(metadataFilter({ user: owner.user }))
    const spoiled = { ...metadata, 'atelier.created': 'long-ago', 'atelier.env': 'no-json', 'atelier.seen': '1e999' }
    expect(recordOf(spoiled)).toMatchObject({ id: 'ws-1', created: 0, seen: 0 })
    expect(recordOf({ other: 'x' })).toBeUndefined()
    expect(recordOf()).toBeUndefined()
  })
})
