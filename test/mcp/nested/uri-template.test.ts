import { describe, expect, it } from 'vitest'
import { schemeOf, templateFit } from '../../../src/mcp/nested/uri-template.ts'

describe('URI templates', () => {
  it.each([
    ['x://{id}', 'x://7', 4],
    ['x://{id}/data', 'x://7/data', 9],
    ['x://{a}/{b}', 'x://1/2', 5],
    ['x://{+path}', 'x://a/b', 4],
    ['x://{id}/data', 'x://7', undefined],
    ['x://{id}', 'y://7', undefined],
    ['x://fixed', 'x://fixed', undefined],
    ['x://a{b}a', 'x://a', undefined],
  ])('%s and %s', (template, uri, fit) => expect(templateFit(template, uri)).toBe(fit))

  it('take linear time', () => {
    const template = `x://${'{a}a'.repeat(10_000)}`
    const started = performance.now()
    expect(templateFit(template, `x://${'a'.repeat(9_000)}`)).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  it('have a scheme', () => {
    expect(schemeOf('File:///x')).toBe('file:')
    expect(schemeOf('no scheme: here')).toBe('')
  })
})
