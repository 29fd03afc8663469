import { expect, test } from 'vitest'
import { InputChoice } from '../../../src/backends/e2b/input-choice.ts'

test('one slow line is a bad moment; a refusal, or two in a row, keep streams away for a while and not for ever', () => {
  let now = 0
  const choice = new InputChoice(() => now)
  expect([choice.open, choice.known]).toEqual([true, false])
  expect(choice.failed('late')).toBe(false)
  expect(choice.open).toBe(true)
  choice.took()
  expect([choice.known, choice.failed('late'), choice.known, choice.open]).toEqual([true, false, false, true])
  expect([choice.failed('late'), choice.open]).toEqual([true, false])
  now += 600_000
  expect([choice.open, choice.failed('late'), choice.open]).toEqual([true, false, true])
  expect([choice.failed('refused'), choice.open]).toEqual([true, false])
})
