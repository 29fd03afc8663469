import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { call, lines } from './fakes.ts'

describe('Grep', () => {
  const base = {
    path: '/work',
    mode: 'content',
    lines: [],
    files: [],
    counts: [],
    truncated: false,
    engine: 'ripgrep',
    notices: [],
  }
  const match = (path: string, line: number, text: string, kind = 'match') => ({ path, line, text, kind })
  const grep = (answer: object, args: object = {}) =>
    call('Grep', { pattern: 'f.o', ...args }, { 'search.grep': { ...base, ...answer } })

  it('passes everything on by its port names', async () => {
    const answer = await grep(
      {},
      {
        path: 'src',
        output_mode: 'content',
        glob: '*.ts',
        type: 'ts',
        '-i': true,
        '-C': 2,
        '-A': '1',
        multiline: 'true',
        head_limit: 5,
        offset: 10,
      },
    )
    expect(answer.asked[0]![1]).toEqual({
      pattern: 'f.o',
      mode: 'content',
      path: 'src',
      glob: '*.ts',
      type: 'ts',
      ignoreCase: true,
      before: 2,
      after: 1,
      multiline: true,
      limit: 5,
      offset: 10,
    })
    expect((await grep({})).asked[0]![1]).toEqual({ pattern: 'f.o', mode: 'files_with_matches', offset: 0 })
    expect((await grep({}, { head_limit: 0 })).asked[0]![1]).toMatchObject({ limit: 10_000 })
  })

  it('writes lines as ripgrep does', async () => {
    const found = [
      match('/work/a', 1, 'foo'),
      match('/work/a', 2, 'bar', 'context'),
      match('', 0, '', 'gap'),
      match('/x/b', 9, 'f-o'),
    ]
    expect((await grep({ lines: found })).text).toBe(lines('a:1:foo', 'a-2-bar', '--', '/x/b:9:f-o'))
    expect((await grep({ lines: found.slice(0, 2) }, { '-n': 'false' })).text).toBe(lines('a:foo', 'a-bar'))
  })

  it('leaves the path out when one file was searched', async () => {
    expect((await grep({ path: '/work/a', lines: [match('/work/a', 1, 'foo')] })).text).toBe('1:foo')
  })

  it('lists files and counts', async () => {
    expect((await grep({ mode: 'files_with_matches', files: ['/work/a', '/b'] })).text).toBe(lines('a', '/b', '[2 files]'))
    const counts = [
      { path: '/work/a', count: 2 },
      { path: '/work/b', count: 1 },
    ]
    expect((await grep({ mode: 'count', counts })).text).toBe(lines('a:2', 'b:1', '[3 matches in 2 files]'))
  })

  it('says how to go on where there is more', async () => {
    const found = [match('/work/a', 1, 'foo'), match('', 0, '', 'gap'), match('/work/a', 9, 'foo')]
    expect((await grep({ lines: found, truncated: true }, { offset: 10 })).text).toContain(
      '[lines 11-12; more follow: offset 12]',
    )
    const files = { mode: 'files_with_matches', files: ['/work/a'], truncated: true }
    expect((await grep(files)).text).toBe(lines('a', '[files 1-1; more follow: offset 1]'))
    expect((await grep({ ...files, totals: { files: 40 } })).text).toBe(lines('a', '[files 1-1 of 40; more follow: offset 1]'))
  })

  it('bounds a very long answer and says how to go on', async () => {
    const found = Array.from({ length: 250 }, (_, index) => match('/work/a', index + 1, 'x'.repeat(500)))
    const { text } = await grep({ lines: found })
    expect(text.length).toBeLessThan(61_000)
    const shown = text.split('\n').length - 1
    expect(text).toContain(`[lines 1-${shown}; more follow: offset ${shown}]`)
  })

  it('tells none from perhaps some, and from no more', async () => {
    expect((await grep({})).text).toBe('No matches of "f.o" in /work.')
    expect((await grep({}, { offset: 5 })).text).toBe('No more matches of "f.o" in /work after offset 5.')
    expect((await grep({ notices: ['the search took longer than 30 s'] })).text).toBe(
      lines('No matches were found so far of "f.o" in /work.', '[the search took longer than 30 s]'),
    )
  })

  it('hands a bad pattern on as an error', async () => {
    const bad = new WorkspaceError('invalid_argument', 'The pattern "(" is no regular expression: unclosed group.')
    const answer = await call('Grep', { pattern: '(' }, { 'search.grep': bad })
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('unclosed group') })
  })
})
