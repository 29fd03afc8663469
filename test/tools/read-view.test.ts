import { describe, expect, it } from 'vitest'
import type { FileView, NotebookCell, PdfPage } from '../../src/workspace/reading/view.ts'
import { call, lines } from './fakes.ts'

const shown = (view: object, args: Record<string, unknown> = {}) =>
  call('Read', { file_path: 'a', ...args }, { 'viewer.view': view as FileView })
const image = { mediaType: 'image/png', data: new Uint8Array([1, 2, 3]), width: 100, height: 50 } as const
const about = { path: '/work/a', size: 2_048 }

describe('Read of an image', () => {
  const view = { kind: 'image', ...about, mediaType: 'image/jpeg', width: 100, height: 50, frames: 1, image }

  it('gives it after what it is', async () => {
    const answer = await shown(view)
    expect(answer.text).toBe('/work/a is a JPEG image: 100 × 50 pixels, 2 KB.')
    expect(answer.content).toEqual([{ type: 'image', data: 'AQID', mimeType: 'image/png' }])
    expect(answer.offload).toBe(false)
  })

  it('says how it was scaled, and that it moves', async () => {
    expect((await shown({ ...view, width: 450, height: 225, frames: 3 })).text).toBe(
      lines(
        '/work/a is a JPEG image: 450 × 225 pixels, 2 KB.',
        '[the first of 3 frames is shown]',
        '[shown as 100 × 50 pixels: multiply coordinates by 4.5 for those of the file]',
      ),
    )
  })

  it('that can not be shown says why, and what to do', async () => {
    const answer = await shown({
      kind: 'opaque',
      ...about,
      mediaType: 'image/png',
      head: new Uint8Array(9),
      why: 'It is cut.',
      hint: 'Get it again.',
    })
    expect(answer).toMatchObject({ text: '/work/a is a PNG image (2 KB): not shown. It is cut.\nGet it again.' })
    expect(answer.isError).toBeUndefined()
    expect(answer.content).toBeUndefined()
  })
})

describe('Read of a PDF', () => {
  const page = (number: number, fields: Partial<PdfPage> = {}): PdfPage => ({
    number,
    text: `text ${number}\n`,
    cut: 0,
    ...fields,
  })
  const view = { kind: 'pdf', ...about, mediaType: 'application/pdf', pageCount: 9 }

  it('numbers its pages and says how to read on', async () => {
    const answer = await shown({ ...view, last: 3, pages: [page(2), page(3, { text: '' })] }, { pages: '2-3' })
    expect(answer.asked).toEqual([['viewer.view', { path: 'a', session: 's1', pages: '2-3' }]])
    expect(answer.text).toBe(
      lines(
        '/work/a is a PDF: 9 pages, 2 KB.',
        '',
        '--- page 2 of 9 ---',
        'text 2',
        '',
        '--- page 3 of 9 ---',
        '[no text: see it with images: true]',
        '[read on with pages "4-5"]',
      ),
    )
    expect((await shown({ ...view, pageCount: 1, last: 1, pages: [page(1)] })).text).not.toContain('read on')
  })

  it('gives images in the order of its pages, and says what is missing', async () => {
    const pages = [page(1, { text: '', image }), page(2, { text: '', why: 'It is damaged.' })]
    const answer = await shown({ ...view, pageCount: 2, last: 2, pages })
    expect(answer.text).toContain('--- page 1 of 2 ---\n[see its image]')
    expect(answer.text).toContain('--- page 2 of 2 ---\n[not shown: It is damaged.]')
    expect(answer.content).toHaveLength(1)
  })

  it('says where it stopped, and of a page that is cut how much is left out', async () => {
    const answer = await shown({ ...view, last: 5, pages: [page(1, { cut: 70 })], stopped: 'the pages before hold 9 characters' })
    expect(answer.text).toContain('[70 more characters of this page are left out; extract its text with Bash, e.g. pdftotext]')
    expect(answer.text).toContain('[stopped before page 2: the pages before hold 9 characters; read on with pages "2-5"]')
  })
})

describe('Read of a notebook', () => {
  const cell = (fields: Partial<NotebookCell>): NotebookCell => ({
    number: 1,
    type: 'code',
    source: 'x',
    cut: 0,
    outputs: [],
    more: 0,
    ...fields,
  })
  const view = { kind: 'notebook', ...about, format: '4.5', language: 'python', cellCount: 3 }

  it('shows cells and their outputs, images numbered', async () => {
    const outputs = [
      { label: 'stdout', text: 'out\n', cut: 5 },
      { label: 'display', cut: 0, image },
      { label: 'display', cut: 0, image },
      { label: 'display', cut: 0, why: 'not shown: x/y' },
    ]
    const answer = await shown({
      ...view,
      cells: [
        cell({ id: 'a1', run: 7, source: 'one\ntwo\n', outputs, more: 2 }),
        cell({ number: 2, type: 'markdown', source: '', cut: 3 }),
      ],
    })
    expect(answer.text).toBe(
      lines(
        '/work/a is a notebook: 3 cells, python, format 4.5, 2 KB.',
        '',
        '--- cell 1 · code · id a1 · run 7 ---',
        'one',
        'two',
        '>>> stdout',
        'out',
        '[5 more characters are left out]',
        '>>> display: image 1 (100 × 50 pixels)',
        '>>> display: image 2 (100 × 50 pixels)',
        '>>> display: [not shown: x/y]',
        '[2 more outputs left out]',
        '',
        '--- cell 2 · markdown ---',
        '[empty]',
        '[3 more characters of its source are left out]',
        '[cells 1-2 of 3]',
        '[more follow: read on with offset 3]',
        '[Edit takes old_string and new_string as the source of a cell]',
      ),
    )
    expect(answer.content).toHaveLength(2)
  })

  it('tells an empty one from a place past the end', async () => {
    expect((await shown({ ...view, cells: [] }, { offset: 9 })).text).toContain('[nothing at offset 9: offset counts cells]')
    expect((await shown({ ...view, cellCount: 0, cells: [] })).text).toBe(
      '/work/a is a notebook: 0 cells, python, format 4.5, 2 KB.',
    )
  })
})

describe('Read of an archive', () => {
  const view = { kind: 'archive', ...about, format: 'zip', encrypted: false }

  it('lists it, names with line ends quoted', async () => {
    const entries = [
      { path: 'word/document.xml', folder: false, size: 2_048 },
      { path: 'd/', folder: true, size: 0 },
      { path: 'a\nb', folder: false, size: 1 },
      { path: 'l', folder: false, size: 0, link: 'to' },
    ]
    expect((await shown({ ...view, entries, count: 6, bytes: 4_096, encrypted: true })).text).toBe(
      lines(
        '/work/a is a zip archive (2 KB): 6 members, 4 KB expanded.',
        '      2 KB  word/document.xml',
        '    folder  d/',
        '    1 byte  "a\\nb"',
        '      link  l -> "to"',
        '[it is a Word document]',
        '[some members are encrypted]',
        '[2 more members follow]',
        '[expand it with Bash: unzip]',
      ),
    )
    expect((await shown({ ...view, format: 'tar', entries: [] })).text).toContain('[more members follow]')
  })

  it('shows how a single compressed text begins', async () => {
    const one = { ...view, format: 'gzip', entries: [] }
    expect((await shown({ ...one, begins: 'hello' })).text).toContain('Its text begins:\nhello\n')
    expect((await shown(one)).text).toContain('binary data')
  })
})

it('Read of a sound gives it', async () => {
  const answer = await shown({ kind: 'audio', ...about, mediaType: 'audio/wav', data: new Uint8Array([1]) })
  expect(answer.text).toBe('/work/a is a WAV sound: 2 KB.')
  expect(answer.content).toEqual([{ type: 'audio', data: 'AQ==', mimeType: 'audio/wav' }])
})

it('Read of a broken notebook adds why it is shown as text', async () => {
  const result = {
    kind: 'text',
    path: '/work/a',
    lines: ['{'],
    firstLine: 1,
    totalLines: 1,
    more: false,
    size: 1,
    encoding: 'utf-8',
    bom: false,
    eol: 'lf',
    cutLines: [],
    byteLimited: false,
  }
  expect((await shown({ kind: 'text', result, remark: 'no notebook' })).text).toBe('     1\t{\n[line 1 of 1]\n[no notebook]')
})
