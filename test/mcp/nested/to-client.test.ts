import { describe, expect, it } from 'vitest'
import { clientFacts, refusal, unwrapOrigin, wrapOrigin } from '../../../src/mcp/nested/to-client.ts'

const client = (capabilities: Record<string, unknown>) => clientFacts({ capabilities, clientInfo: { name: 'tester' } })

describe('a question for the client', () => {
  it.each([
    ['sampling/createMessage', {}, {}, -32601],
    ['sampling/createMessage', {}, { sampling: {} }, undefined],
    ['sampling/createMessage', { tools: [] }, { sampling: {} }, -32602],
    ['sampling/createMessage', { tools: [] }, { sampling: { tools: {} } }, undefined],
    ['elicitation/create', {}, {}, -32601],
    ['elicitation/create', {}, { elicitation: {} }, undefined],
    ['elicitation/create', { mode: 'form' }, { elicitation: { form: {} } }, undefined],
    ['elicitation/create', { mode: 'form' }, { elicitation: { url: {} } }, -32602],
    ['elicitation/create', { mode: 'url' }, { elicitation: {} }, -32602],
    ['elicitation/create', { mode: 'url' }, { elicitation: { url: {} } }, undefined],
    ['roots/list', {}, {}, -32601],
    ['roots/list', {}, { roots: {} }, undefined],
    ['example.com/own', {}, {}, undefined],
  ])('%s %j to %j', (method, params, capabilities, code) => {
    expect(refusal(method, params, client(capabilities))?.code).toBe(code)
  })

  it('is refused with the name of the client and what it lacks', () => {
    expect(refusal('roots/list', {}, client({}))?.message).toBe('tester does not offer roots, which roots/list needs.')
  })

  it.each(['text', 7, 0, '', -1])('finds its way back: %j', id => {
    const origin = { link: 2, server: 'a "b"', id }
    expect(unwrapOrigin(wrapOrigin(origin))).toEqual(origin)
    expect(unwrapOrigin(7)).toBeUndefined()
  })
})
