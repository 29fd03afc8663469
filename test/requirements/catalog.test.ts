import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Requirement } from '../support/verifies.ts'
import { requirements } from './catalog.ts'
import { NOT_HERE } from './not-here.ts'

const folder = new URL('.', import.meta.url)
const texts = readdirSync(folder)
  .filter(name => name.endsWith('.test.ts') && name !== 'catalog.test.ts')
  .map(name => readFileSync(new URL(name, folder), 'utf8'))

const tested = texts.flatMap(text => [...text.matchAll(/\bverifies\(\s*'([\w.-]+)'/g)].map(([, id = '']) => id))

describe('the catalogue of requirements', () => {
  it('has a test for each requirement, and only one', () => {
    expect([...tested].sort()).toEqual(Object.keys(requirements).sort())
  })

  it('gives a source and a sentence to each', () => {
    const entries: [string, Requirement][] = Object.entries(requirements)
    expect(entries.filter(([, { source, says }]) => source.length < 5 || !says.endsWith('.'))).toEqual([])
  })

  it('gives a reason wherever one does not apply', () => {
    const reasons = (Object.values(requirements) as Requirement[]).flatMap(({ not = {}, fails = {}, only }) => [
      ...Object.values(not),
      ...Object.values(fails),
      ...(only === undefined ? [] : [only.reason]),
    ])
    expect(reasons.filter((reason = '') => reason.trim().length < 8)).toEqual([])
    expect(NOT_HERE.filter(({ source, says, reason }) => !source || !says || !reason)).toEqual([])
  })
})
