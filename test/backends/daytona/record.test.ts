import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeLabel, encodeLabel, labelQuery, labelsOf, recordOf, sandboxName } from '../../../src/backends/daytona/record.ts'

const RECORD = {
  ...{ id: 'ws-a', name: 'mine', owner: { user: 'u', agent: 'a', session: 's' }, created: '2026-01-01T00:00:00.000Z' },
  ...{ workdir: '/workspace', image: 'default', envNames: ['A', 'B'], ttlMs: 5_000, attempt: 'x', handedOut: true },
}

test('any text survives as printable ASCII, lone surrogates included', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const encoded = encodeLabel(text)
      expect(encoded).toMatch(/^[\x20-\x7e]*$/)
      expect(decodeLabel(encoded)).toBe(text)
    }),
  )
  expect(decodeLabel(encodeLabel('\ud800%00e9\0'))).toBe('\ud800%00e9\0')
  expect(encodeLabel('plain text/1')).toBe('plain text/1')
})

test('a record is read back from its labels, whatever names the owner has', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (user, agent, session) => {
      const record = { ...RECORD, owner: { user, agent, session } }
      expect(recordOf(labelsOf(record))).toEqual(record)
    }),
  )
})

test('labels of somebody else, or of another namespace, are no record', () => {
  expect(recordOf(undefined)).toBeUndefined()
  expect(recordOf({ 'code-toolbox-language': 'python' })).toBeUndefined()
  expect(recordOf(labelsOf(RECORD, 'one'), 'two')).toBeUndefined()
  expect(recordOf(labelsOf(RECORD, 'one'), 'one')).toEqual(RECORD)
  expect(sandboxName('ws-a', 'one')).not.toBe(sandboxName('ws-a'))
})

test('the query for an owner names only what was asked for, and matches the labels', () => {
  const query = labelQuery({ user: 'ü', agent: '' }, 'n')
  expect(labelsOf({ ...RECORD, owner: { user: 'ü', agent: '', session: 's' } }, 'n')).toMatchObject(query)
  expect(Object.keys(query)).not.toContain('atelier.owner.session')
})
