import { describe, expect, it } from 'vitest'
import { withLogLink } from '../../src/mcp/log-link.ts'
import { fakeWorkspace } from './support.ts'

const workspace = fakeWorkspace({ id: 'w1' })
const answer = { content: [{ type: 'text', text: 'done' }] }
const link = { type: 'resource_link', mimeType: 'text/plain' }

describe('links to logs', () => {
  it('lead to a log by its path, with its size where that is known', () => {
    const path = '/r/w1/.atelier/jobs/a b/log'
    const place = { ...link, uri: 'workspace:///.atelier/jobs/a%20b/log', name: 'a b-log', title: 'Log of job a b' }
    expect(withLogLink(answer, { path, bytes: 7 }, workspace).content).toEqual([...answer.content, { ...place, size: 7 }])
    expect(withLogLink(answer, { path }, workspace).content).toEqual([...answer.content, place])
  })

  it('lead to the log of a job', () => {
    const place = { ...link, uri: 'workspace:///.atelier/jobs/j1/log', name: 'j1-log', title: 'Log of job j1' }
    expect(withLogLink(answer, { job: 'j1' }, workspace).content).toEqual([...answer.content, place])
  })

  it('are none for a log outside the root, and for none', () => {
    expect(withLogLink(answer, { path: '/elsewhere/log' }, workspace)).toBe(answer)
    expect(withLogLink(answer, { job: '../../../../up' }, workspace)).toBe(answer)
    expect(withLogLink(answer, undefined, workspace)).toBe(answer)
  })
})
