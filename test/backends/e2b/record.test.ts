import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  infoOf,
  inOrder,
  type Listed,
  metadataFilter,
  metadataOf,
  newRecord,
  recordOf,
} from '../../../src/backends/e2b/record.ts'

const OWNER = { user: 'u', agent: '', session: '' }

describe('the record of a workspace in metadata', () => {
  test('comes back as it was, whatever the names are, and is printable ASCII there', () => {
    const text = fc.string({ unit: 'grapheme' })
    const record = fc.record(
      {
        ...{
          id: fc.stringMatching(/^[a-z0-9-]{1,40}$/),
          name: text,
          workdir: text,
          template: text,
          created: fc.constant('2026-01-01T00:00:00.000Z'),
        },
        owner: fc.record({ user: text, agent: text, session: text }),
        maker: fc.stringMatching(/^[0-9a-f]{16}$/),
        ttlMs: fc.nat(),
        env: fc.dictionary(fc.stringMatching(/^[A-Z_]{1,9}$/), text),
      },
      { requiredKeys: ['id', 'name', 'workdir', 'template', 'created', 'owner', 'maker'] },
    )
    fc.assert(
      fc.property(record, wanted => {
        const metadata = metadataOf(wanted as Parameters<typeof metadataOf>[0])
        expect(Object.values(metadata).every(value => /^[\x20-\x7e]+$/.test(value))).toBe(true)
        expect(recordOf(metadata)).toEqual(wanted)
      }),
    )
  })

  test('is not seen in what is no workspace, and bears what others wrote', () => {
    expect(recordOf({})).toBeUndefined()
    expect(recordOf({ 'atelier.id': 'x' })).toBeUndefined()
    expect(recordOf({ 'atelier.id': 'x', 'atelier.kind': 'workspace', 'atelier.name': '100%' })).toMatchObject({ name: '100%' })
  })

  test('is looked for by id, or by its user where there is one', () => {
    expect(metadataFilter({ id: 'x' })).toEqual({ 'atelier.id': 'x' })
    expect(metadataFilter({ user: 'é' })).toEqual({ 'atelier.kind': 'workspace', 'atelier.user': '%C3%A9' })
    expect(metadataFilter({ user: '' })).toEqual({ 'atelier.kind': 'workspace' })
  })

  test('tells which sandbox counts and what it is', () => {
    const record = newRecord({ id: 'w', name: 'n', owner: OWNER }, { maker: 'm', workdir: '/w', template: 't' })
    const listed = (sandboxId: string, created: string): Listed => ({
      ...{ sandboxId, state: 'paused', startedAt: new Date(0) },
      record: { ...record, created },
    })
    const all = [listed('b', '2026-01-02'), listed('c', '2026-01-01'), listed('a', '2026-01-02')]
    expect(all.sort(inOrder).map(({ sandboxId }) => sandboxId)).toEqual(['c', 'a', 'b'])
    expect(infoOf(listed('a', '2026-01-02'))).toMatchObject({
      ...{ id: 'w', backend: 'e2b', state: 'suspended', incarnation: 'a', createdAt: '2026-01-02' },
      ...{ workdir: '/w', root: '/w', madeByAtelier: true, details: { sandbox: 'a', image: 't' } },
    })
  })
})
