import { describe, expect, it } from 'vitest'
import { call, lines } from './fakes.ts'

describe('Glob', () => {
  const result = { path: '/work', files: ['/work/src/a.ts', '/etc/b.ts'], total: 2, truncated: false, notices: [] }
  const glob = (answer: unknown, args: object = {}) => call('Glob', { pattern: '*.ts', ...args }, { 'search.glob': answer })

  it('gives a path a line, short ones inside the workdir', async () => {
    const answer = await glob(result, { path: '/' })
    expect(answer.text).toBe(lines('src/a.ts', '/etc/b.ts', '[2 files]'))
    expect(answer.asked).toEqual([['search.glob', { pattern: '*.ts', path: '/' }]])
  })

  it('says when there are more than it gives', async () => {
    expect((await glob({ ...result, total: 1_234, truncated: true })).text).toContain(
      '[the newest 2 of 1234 files are shown; narrow the pattern or the path for others]',
    )
  })

  it('tells none from perhaps some', async () => {
    const none = { ...result, files: [], total: 0 }
    expect((await glob(none)).text).toBe('No files match "*.ts" in /work.')
    expect((await glob({ ...none, notices: ['3 folders could not be read'] })).text).toBe(
      lines('No matching files were found so far for "*.ts" in /work.', '[3 folders could not be read]'),
    )
  })
})
