import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { call, lines } from './fakes.ts'

describe('Edit', () => {
  const edited = {
    path: '/work/a',
    replacements: 1,
    created: false,
    notices: [],
    excerpt: [
      { line: 9, text: 'before' },
      { line: 10, text: 'new' },
    ],
  }
  const edit = (result: unknown, args: object = {}) =>
    call('Edit', { file_path: 'a', old_string: 'o', new_string: 'n', ...args }, { 'files.edit': result })

  it('shows the result, numbered', async () => {
    const answer = await edit(edited)
    expect(answer.text).toBe(lines('Edited /work/a; it now reads:', '     9\tbefore', '    10\tnew'))
    expect(answer.asked[0]![1]).toEqual({ path: 'a', session: 's1', oldString: 'o', newString: 'n', replaceAll: false })
  })

  it('counts replacements and tells a new file', async () => {
    const many = await edit({ ...edited, replacements: 3, excerpt: [] }, { replace_all: true })
    expect(many.text).toBe('Replaced 3 occurrences in /work/a.')
    expect(many.asked[0]![1]).toMatchObject({ replaceAll: true })
    expect((await edit({ ...edited, created: true, replacements: 0, excerpt: [] }, { old_string: '' })).text).toBe(
      'Created /work/a.',
    )
  })

  it('hands on why nothing was changed', async () => {
    const several = new WorkspaceError('precondition_failed', 'old_string occurs 3 times in /work/a: lines 1, 5, 9.', {
      hint: 'Give more context.',
    })
    expect(await edit(several)).toMatchObject({
      isError: true,
      text: 'old_string occurs 3 times in /work/a: lines 1, 5, 9.\nGive more context.',
    })
  })
})

describe('Edit of a notebook', () => {
  const edited = (result: object) =>
    call('Edit', { file_path: 'n.ipynb', old_string: 'a', new_string: 'b' }, { 'viewer.editNotebook': result })

  it('shows the cells as they are now', async () => {
    const cells = [1, 2, 3, 4, 5].map(number => ({ number, id: number === 1 ? 'a1' : undefined, source: `source ${number}` }))
    const answer = await edited({ path: '/work/n.ipynb', replacements: 5, cells, notices: ['noted'] })
    expect(answer.text).toBe(
      lines(
        'Replaced 5 occurrences in /work/n.ipynb.',
        '--- cell 1 · id a1 now reads ---',
        'source 1',
        '--- cell 2 now reads ---',
        'source 2',
        '--- cell 3 now reads ---',
        'source 3',
        '[cells 4, 5 were changed too]',
        '[noted]',
      ),
    )
    expect(answer.asked[0]).toEqual([
      'viewer.editNotebook',
      { path: 'n.ipynb', session: 's1', oldString: 'a', newString: 'b', replaceAll: false },
    ])
  })
})
