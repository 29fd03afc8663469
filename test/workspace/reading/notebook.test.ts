import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NotebookView, TextView } from '../../../src/workspace/reading/view.ts'
import { type Cell, notebook, png } from '../../support/documents.ts'
import { Place } from './place.ts'

let place: Place
let without: Place
beforeAll(() => {
  place = new Place()
  without = new Place({ packages: [] })
})
afterAll(() => {
  place.dispose()
  without.dispose()
})

const view = (path: string, asked: { offset?: number; limit?: number } = {}, at = place) =>
  at.viewer.view({ path, session: 's', ...asked }) as Promise<NotebookView>
const cells = async (...given: Cell[]) => (await view(place.write('n.ipynb', notebook(given)))).cells
const image = (data: string) => ({
  output_type: 'display_data',
  data: { 'image/png': data, 'text/plain': ['<Figure>'] },
  metadata: {},
})

describe('a notebook', () => {
  it('is given as cells with their sources', async () => {
    const source = ['import os\n', 'x = 1']
    const found = await view(
      place.write(
        'n.ipynb',
        notebook([{ type: 'markdown', id: 'a1', source: '# Title' }, { id: 'b2', source, run: 3 }, { source: [] }]),
      ),
    )
    expect(found).toMatchObject({ kind: 'notebook', format: '4.5', language: 'python3', cellCount: 3 })
    expect(found.cells).toEqual([
      { number: 1, type: 'markdown', id: 'a1', run: undefined, source: '# Title', cut: 0, outputs: [], more: 0 },
      { number: 2, type: 'code', id: 'b2', run: 3, source: 'import os\nx = 1', cut: 0, outputs: [], more: 0 },
      { number: 3, type: 'code', id: undefined, run: undefined, source: '', cut: 0, outputs: [], more: 0 },
    ])
  })

  it('has its outputs as a terminal shows them, images as such', async () => {
    const [cell] = await cells({
      source: 'run()',
      outputs: [
        { output_type: 'stream', name: 'stdout', text: ['\x1b[31mred\x1b[0m\n', '10 %\r100 %\n'] },
        { output_type: 'stream', name: 'stderr', text: 'warned' },
        {
          output_type: 'execute_result',
          data: { 'text/html': '<b>1</b>', 'text/plain': ['1'] },
          metadata: {},
          execution_count: 1,
        },
        { output_type: 'display_data', data: { 'text/html': ['<i>', 'x</i>'] }, metadata: {} },
        { output_type: 'display_data', data: { 'application/vnd.plotly': {} }, metadata: {} },
        { output_type: 'error', ename: 'ValueError', evalue: 'bad', traceback: ['\x1b[0;31mValueError\x1b[0m: bad'] },
        image(png(30, 20).toString('base64')),
      ],
    })
    expect(cell?.outputs.slice(0, 6)).toEqual([
      { label: 'stdout', text: 'red\n100 %\n', cut: 0 },
      { label: 'stderr', text: 'warned', cut: 0 },
      { label: 'result', text: '1', cut: 0 },
      { label: 'display, text/html', text: '<i>x</i>', cut: 0 },
      { label: 'display', cut: 0, why: 'not shown: application/vnd.plotly' },
      { label: 'error', text: 'ValueError: bad', cut: 0 },
    ])
    expect(cell?.outputs[6]).toMatchObject({ label: 'display', image: { mediaType: 'image/png', width: 30, height: 20 } })
  })

  it('is read in parts, offset and limit counting cells', async () => {
    place.write('n.ipynb', notebook(Array.from({ length: 30 }, (_, index) => ({ source: `cell ${index + 1}` }))))
    const numbers = async (asked: object) => (await view('n.ipynb', asked)).cells.map(({ number, source }) => [number, source])
    expect(await numbers({ offset: 29 })).toEqual([
      [29, 'cell 29'],
      [30, 'cell 30'],
    ])
    expect(await numbers({ offset: 4, limit: 1 })).toEqual([[4, 'cell 4']])
    expect(await numbers({ offset: -1 })).toEqual([[30, 'cell 30']])
    expect(await numbers({ offset: 31 })).toEqual([])
  })

  it('with a cell of 30 MB is cut, not refused', async () => {
    const huge = 'x'.repeat(15_000_000)
    const found = await cells(
      { source: 'a' },
      { source: huge, outputs: [{ output_type: 'stream', name: 'stdout', text: huge }] },
      { source: 'b' },
    )
    expect(found.map(({ source }) => source.length)).toEqual([1, 20_000, 1])
    expect(found[1]).toMatchObject({ cut: 15_000_000 - 20_000, outputs: [{ cut: 15_000_000 - 10_000 }] })
  })

  it('with more than an answer holds ends at a cell', async () => {
    const found = await cells(...Array.from({ length: 9 }, () => ({ source: 'y'.repeat(19_000) })))
    expect(found.length).toBeGreaterThan(3)
    expect(found.length).toBeLessThan(9)
  })

  it('shows no image that is none, and at most ten', async () => {
    const good = image(png(10, 10).toString('base64'))
    const [cell] = await cells({ source: 'plot()', outputs: [image('AAAA'), image('%%%'), ...Array(11).fill(good)] })
    const shown = cell?.outputs.map(output => output.image !== undefined)
    expect(shown).toEqual([false, false, ...Array(10).fill(true), false])
    expect(cell?.outputs[0]?.why).toContain("can't be decoded")
    expect(cell?.outputs[12]?.why).toContain('no more images')
  })

  it('names the missing library in place of an image, and shows the rest', async () => {
    const text = notebook([{ source: 'plot()', outputs: [image(png(3_000, 10).toString('base64'))] }])
    const found = await view(without.write('n.ipynb', text), {}, without)
    expect(found.cells[0]).toMatchObject({ source: 'plot()', outputs: [{ why: expect.stringContaining('"sharp"') }] })
  })

  it('has odd parts passed over', async () => {
    const odd = { cells: [{ source: 5 }, { cell_type: [], outputs: [1, { output_type: 'x' }, null] }, {}], nbformat: 4 }
    const found = await view(place.write('odd.ipynb', JSON.stringify(odd)))
    expect(found.cells.map(({ number, type, source }) => [number, type, source])).toEqual([
      [1, 'unknown', ''],
      [2, 'unknown', ''],
      [3, 'unknown', ''],
    ])
  })
})

describe('a file with the name of a notebook', () => {
  it.each([
    ['{"cells": [}\nsecond\n', 'no valid JSON'],
    ['[1, 2]\n', 'its JSON is no object'],
    ['{"nbformat": 3, "worksheets": []}\n', 'old format 3'],
    ['{"cells": {}}\n', 'no list of cells'],
    [`${'['.repeat(3_000_000)}`, 'shown as plain text'],
  ])('%.30s is shown as text, with the reason', async (content, why) => {
    const found = (await view(place.write('none.ipynb', content))) as unknown as TextView
    expect(found).toMatchObject({ kind: 'text', result: { firstLine: 1 } })
    expect(found.remark).toContain(why)
  })

  it('may be empty, or no text at all', async () => {
    expect(await view(place.write('empty.ipynb', ''))).toMatchObject({ kind: 'text', result: { size: 0 } })
    expect(await view(place.write('image.ipynb', png(4, 4)))).toMatchObject({ kind: 'image' })
  })
})
