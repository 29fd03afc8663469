import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ZodObject } from 'zod'
import { KUBERNETES } from '../../../src/config/backends/kubernetes.ts'

const docs = readFileSync('docs/kubernetes.md', 'utf8')

test('the example of the documentation is accepted as it stands', () => {
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(docs) ?? []
  const { kubernetes } = JSON.parse(example) as { kubernetes: object }
  expect(KUBERNETES.parse(kubernetes)).toEqual(kubernetes)
})

test('every setting is in the documentation', () => {
  const names = Object.keys((KUBERNETES as unknown as ZodObject).shape)
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter(name => !docs.includes(`\`${name}\``))).toEqual([])
})

test('what is not one, or of another kind, is refused', () => {
  const refused = [
    { nameSpace: 'x' },
    { resources: { memory: '1Gi' } },
    { imagePullPolicy: 'Sometimes' },
    { profiles: { a: { image: 'x' } } },
  ]
  expect(refused.map(value => KUBERNETES.safeParse(value).success)).toEqual(refused.map(() => false))
  expect(KUBERNETES.parse({ startTimeoutMs: '90s' })).toEqual({ startTimeoutMs: 90_000 })
})
