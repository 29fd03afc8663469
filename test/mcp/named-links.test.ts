import { expect, it } from 'vitest'
import { namedLinks } from '../../src/mcp/named-links.ts'

const link = (uri: string) => ({ type: 'resource_link', uri, name: 'x' })
const text = (value: string) => ({ type: 'text', text: value })

it('names the workspace in links to the current one, and where the text repeats them', () => {
  const result = {
    content: [
      text('in workspace:///a(1).txt, not workspace:///b'),
      link('workspace:///a(1).txt'),
      link('workspace://w2/c'),
      'odd',
    ],
    isError: false,
  }
  expect(namedLinks(result, 'w 1')).toEqual({
    content: [
      text('in workspace://w%201/a(1).txt?root, not workspace:///b'),
      link('workspace://w%201/a(1).txt?root'),
      link('workspace://w2/c'),
      'odd',
    ],
    isError: false,
  })
})

it('gives back a result without such links', () => {
  for (const result of [{}, { content: [text('workspace:///a')] }, { content: [link('file:///a')] }]) {
    expect(namedLinks(result, 'w1')).toBe(result)
  }
})
