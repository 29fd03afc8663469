import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CALL_FAULTS } from '../../backends/faults/calls.ts'
import { FAULTS } from '../../backends/faults/matrix.ts'
import { ROWS } from './rows.ts'

const rows = Object.entries(ROWS)

test('no fault of the matrix is left out', () => {
  expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(FAULTS).sort())
  const calls = rows.filter(([, { meets }]) => meets.kind === 'call')
  expect(calls.map(([name]) => name).sort()).toEqual(Object.keys(CALL_FAULTS).sort())
})

test('what can not happen to a doctor has a reason, and what it leaves to do is in the documents', () => {
  const documents = readFileSync('docs/upkeep.md', 'utf8')
  const never = rows.flatMap(([name, { meets }]) => (meets.kind === 'never' ? [{ name, ...meets }] : []))
  expect(never.map(({ name }) => name)).toEqual(['leaked-key', 'ten-hosts', 'ten-hosts-asleep', 'abandoned', 'killed-host'])
  for (const { because, remedy } of never) {
    expect(because).toMatch(/.{20}/)
    if (remedy !== undefined) expect(documents).toMatch(remedy)
  }
})
