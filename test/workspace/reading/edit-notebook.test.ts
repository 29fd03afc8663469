import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cell, notebook } from '../../support/documents.ts'
import { Place } from './place.ts'

let place: Place
beforeAll(() => {
  place = new Place()
})
afterAll(() => place.dispose())

const now = () => readFileSync(join(place.folder, 'n.ipynb'), 'utf8')
const change = (oldString: string, newString: string, replaceAll = false) =>
  place.viewer.editNotebook({ path: 'n.ipynb', session: 's', oldString, newString, replaceAll })
const refusal = (oldString: string, newString: string, replaceAll = false) =>
  change(oldString, newString, replaceAll).then(
    () => expect.fail('it was edited'),
    error => error,
  )
/** Writes the notebook and reads it, as an edit requires. */
async function given(text: string): Promise<string> {
  place.write('n.ipynb', text)
  await place.files.read({ path: 'n.ipynb', session: 's', limit: 1 })
  return text
}

const CELLS: Cell[] = [
  { type: 'markdown', id: 'a1', source: ['# Title\n', 'with "quotes" and é'] },
  {
    id: 'b2',
    source: ['import os\n', 'total = 1\n', 'print(total)'],
    run: 2,
    outputs: [{ output_type: 'stream', name: 'stdout', text: ['total\n'] }],
  },
  { id: 'c3', source: [] },
  { id: 'd4', source: 'as_text = 1\nsecond' },
]

describe('an edit of a notebook', () => {
  it('changes the source of a cell and nothing else, byte for byte', async () => {
    const before = await given(notebook(CELLS))
    const result = await change('total = 1\nprint(total)', 'total = 2\nif total:\n    print("é")\n')
    expect(result).toMatchObject({ replacements: 1, notices: [] })
    expect(result.cells).toEqual([{ number: 2, id: 'b2', source: 'import os\ntotal = 2\nif total:\n    print("é")\n' }])
    const after = [...CELLS]
    after[1] = { ...CELLS[1], source: ['import os\n', 'total = 2\n', 'if total:\n', '    print("é")\n'] }
    expect(now()).toBe(notebook(after))
    expect(now()).not.toBe(before)
  })

  it.each([
    ['four spaces', { indent: 4 }],
    ['no spaces', { indent: undefined, end: '' }],
    ['tabs and no newline at the end', { indent: 2, end: '' }],
  ])('keeps the form of a file with %s', async (_form, form) => {
    await given(notebook(CELLS, form))
    await change('total = 1', 'total = 2\nmore()')
    const after = [...CELLS]
    after[1] = { ...CELLS[1], source: ['import os\n', 'total = 2\n', 'more()\n', 'print(total)'] }
    expect(now()).toBe(notebook(after, form))
  })

  it('keeps a source that is one text, line ends of the file, its mark and its escapes', async () => {
    await given(notebook(CELLS).replaceAll('\n', '\r\n'))
    await change('as_text = 1', 'as_text = 2\nplus')
    expect(now()).toBe(
      notebook([...CELLS.slice(0, 3), { id: 'd4', source: 'as_text = 2\nplus\nsecond' }]).replaceAll('\n', '\r\n'),
    )

    const ascii = (text: string) =>
      text.replace(/[^\x00-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    await given(`\ufeff${ascii(notebook(CELLS))}`)
    await change('quotes" and', 'ö')
    const [first, ...rest] = CELLS
    expect(now()).toBe(`\ufeff${ascii(notebook([{ ...first, source: ['# Title\n', 'with "ö é'] } as Cell, ...rest]))}`)
  })

  it('can empty a source, and leaves the other of two equal cells alone', async () => {
    const twins: Cell[] = [{ source: ['a\n', 'b'] }, { source: ['x'] }, { source: ['a\n', 'b'] }, { source: ['c'] }]
    await given(notebook(twins))
    await change('x', '')
    expect(now()).toBe(notebook([twins[0]!, { source: [] }, twins[2]!, twins[3]!]))
    await change('c', 'a\nb')
    expect(JSON.parse(now()).cells[3].source).toEqual(['a\n', 'b'])
  })

  it('fills a source that was empty as the file is indented', async () => {
    await given(notebook([{ source: ['only'] }, { source: [] }]))
    await change('   "source": []', '   "source": ["new"]')
    expect(JSON.parse(now()).cells[1].source).toEqual(['new'])
  })

  it('refuses what occurs several times, and changes all of it where that is asked', async () => {
    await given(notebook(CELLS))
    expect(await refusal('total', 'sum')).toMatchObject({ message: expect.stringMatching(/occurs 2 times .*\(cell 2\)/) })
    expect(await refusal('1', '9')).toMatchObject({ message: expect.stringMatching(/\(cells 2, 4\)/) })
    expect(now()).toBe(notebook(CELLS))
    const result = await change('1', '9', true)
    expect(result).toMatchObject({ replacements: 2, cells: [{ number: 2 }, { number: 4 }] })
    expect(JSON.parse(now()).cells.map((cell: Cell) => [cell.source].flat().join(''))).toEqual([
      '# Title\nwith "quotes" and é',
      'import os\ntotal = 9\nprint(total)',
      '',
      'as_text = 9\nsecond',
    ])
    expect(JSON.parse(now()).cells[1].outputs[0].text).toEqual(['total\n'])
  })
})

describe('an edit of its JSON', () => {
  it('is made where the notebook stays one', async () => {
    await given(notebook(CELLS))
    const result = await change('"display_name": "Python 3"', '"display_name": "Python 3.12"')
    expect(result).toMatchObject({ replacements: 1, cells: [] })
    expect(JSON.parse(now()).metadata.kernelspec.display_name).toBe('Python 3.12')
  })

  it('is refused where it would break it, and the file is as before', async () => {
    const before = await given(notebook(CELLS))
    expect(await refusal('"nbformat": 4,', '"nbformat": 4')).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/would break the notebook: it is no valid JSON.*Nothing was written/),
      hint: expect.stringContaining('source of a cell'),
    })
    expect(await refusal('"cells"', '"rows"')).toMatchObject({ message: expect.stringContaining('no list of cells') })
    expect(await refusal('not there', 'x')).toMatchObject({ message: expect.stringContaining('the source of no cell') })
    expect(now()).toBe(before)
  })

  it('of a file that is none is an edit of text, and said to be', async () => {
    await given('{"cells": [}\n')
    expect((await change('[}', '[]}')).notices).toEqual(['It is no valid notebook: it was edited as plain text.'])
    expect(now()).toBe('{"cells": []}\n')
  })
})

describe('as of any file', () => {
  it('it must have been read, and not be changed since', async () => {
    place.write('n.ipynb', notebook(CELLS))
    await place.files.read({ path: 'n.ipynb', session: 'other', limit: 1 })
    expect(await refusal('total = 1', 'x')).toMatchObject({ code: 'precondition_failed' })
    await given(notebook(CELLS))
    const changed = place.write('n.ipynb', notebook(CELLS, { indent: 2 })) && now()
    expect(await refusal('total = 1', 'x')).toMatchObject({
      code: 'precondition_failed',
      message: expect.stringContaining('changed'),
    })
    expect(now()).toBe(changed)
  })

  it('one that is missing, the same text, and an empty old text are told by the file itself', async () => {
    await given(notebook(CELLS))
    expect(await refusal('total', 'total')).toMatchObject({ message: expect.stringContaining('the same') })
    expect(await refusal('', 'x')).toMatchObject({ code: 'already_exists' })
    const missing = { path: 'none.ipynb', session: 's', oldString: 'a', newString: 'b', replaceAll: false }
    await expect(place.viewer.editNotebook(missing)).rejects.toMatchObject({ code: 'not_found' })
  })
})
