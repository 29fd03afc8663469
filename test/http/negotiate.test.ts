import { expect, it } from 'vitest'
import { accepted, acceptsStream, isJsonBody } from '../../src/http/negotiate.ts'

it.each([
  ['application/json, text/event-stream', true, true],
  ['text/event-stream;q=0.5, application/json;q=1', true, true],
  ['APPLICATION/JSON', true, false],
  ['text/event-stream', false, true],
  ['*/*', true, false],
  ['text/event-stream;q=0, application/json', true, false],
  ['text/html', false, false],
  [undefined, true, false],
])('reads Accept: %s', (header, json, stream) => {
  expect(accepted(header)).toEqual({ json, stream })
})

it('gives a stream on GET to whoever takes anything', () => {
  for (const header of [undefined, '*/*', 'text/html, */*;q=0.1', 'text/event-stream']) expect(acceptsStream(header)).toBe(true)
  for (const header of ['application/json', 'text/html']) expect(acceptsStream(header)).toBe(false)
})

it('takes plain JSON in UTF-8 and nothing else', () => {
  for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
    expect(isJsonBody(type, undefined)).toBe(true)
  }
  for (const type of [undefined, '', 'text/plain', 'application/jsonx', 'application/json; charset=latin1']) {
    expect(isJsonBody(type, undefined)).toBe(false)
  }
  expect(isJsonBody('application/json', 'gzip')).toBe(false)
  expect(isJsonBody('application/json', 'identity')).toBe(true)
})
