import { describe, expect, it } from 'vitest'
import { type Answers, openFake } from './fakes.ts'

const run = (answers: Answers) => openFake({ answers: () => answers })

describe('search', () => {
  it('starts in the workdir and fills in limits', async () => {
    const { workspace, client } = await run({})
    await workspace.search.glob({ pattern: '*' })
    await workspace.search.grep({ pattern: 'x', mode: 'content', path: 'src', limit: 5 })
    expect(client.asked('search.glob')).toEqual([{ pattern: '*', path: '/work', limit: 200, timeoutMs: 30_000 }])
    expect(client.asked('search.grep')).toEqual([
      { pattern: 'x', mode: 'content', path: 'src', limit: 5, offset: 0, maxLineBytes: 500, timeoutMs: 30_000 },
    ])
  })
})
