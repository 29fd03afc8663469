import { describe, expect, it } from 'vitest'
import { withLogLink } from '../../src/mcp/log-link.ts'
import { fakeWorkspace } from './support.ts'

const workspace = fakeWorkspace({ id: 'w1' })
const answer = (text: string) => ({ content: [{ type: 'text', text }] })

describe('links to logs', () => {
  it('lead to the log that the text names', () => {
    const log = '/r/w1/.atelier/jobs/a b/log'
    const result = withLogLink(answer(`done [full log: ${log}]`), log, workspace)
    expect(result.content).toEqual([
      { type: 'text', text: `done [full log: ${log}]` },
      { type: 'resource_link', uri: 'workspace:///.atelier/jobs/a%20b/log', name: 'a b-log', mimeType: 'text/plain' },
    ])
  })

  it.each([
    ['that the text does not name', '/r/w1/.atelier/jobs/j/log', 'done'],
    ['outside the root', '/elsewhere/log', 'see /elsewhere/log'],
    ['that is none', undefined, 'done'],
  ])('are none for a log %s', (_, log, text) => {
    const result = answer(text)
    expect(withLogLink(result, log, workspace)).toBe(result)
  })
})
