import { randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFileReader } from '../../../src/workspace/reading/reader-process.ts'
import type { OpaqueView, PdfView } from '../../../src/workspace/reading/view.ts'
import { ENCRYPTED, pdf, pngSize } from '../../support/documents.ts'
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

const pages = (count: number) => Array.from({ length: count }, (_, index) => `Page ${index + 1} here\nand (more)`)
const view = (path: string, asked: { pages?: string; images?: boolean } = {}, at = place) =>
  at.viewer.view({ path, session: 's', ...asked }) as Promise<PdfView>
const refusal = (path: string, asked: object = {}) =>
  view(path, asked).then(
    () => 'no error',
    error => error,
  )

describe('a PDF', () => {
  it('is given as the text of its pages', async () => {
    const found = await view(place.write('a.pdf', pdf(pages(3))))
    expect(found).toMatchObject({ kind: 'pdf', mediaType: 'application/pdf', pageCount: 3, last: 3 })
    expect(found.pages).toEqual([1, 2, 3].map(number => ({ number, text: `Page ${number} here\nand (more)`, cut: 0 })))
  })

  it('of over 10 pages is read where pages are named, at most 20 of them', async () => {
    place.write('long.pdf', pdf(pages(500)))
    expect(await refusal('long.pdf')).toMatchObject({
      code: 'invalid_argument',
      message: 'The PDF has 500 pages: say which to read.',
      hint: 'Set pages, e.g. "1-10"; at most 20 at once.',
    })
    const found = await view('long.pdf', { pages: '481-' })
    expect(found.pages.map(page => page.number)).toEqual(Array.from({ length: 20 }, (_, index) => 481 + index))
    expect(found.pages.at(-1)?.text).toContain('Page 500 here')
    expect(await refusal('long.pdf', { pages: '2-22' })).toMatchObject({
      message: 'Pages 2-22 are 21 pages; at most 20 are read at once.',
      hint: 'Set pages, e.g. "2-21".',
    })
    expect(await refusal('long.pdf', { pages: '501' })).toMatchObject({
      message: 'The PDF has 500 pages; page 501 was asked for.',
    })
    expect((await view('long.pdf', { pages: '499-999' })).last).toBe(500)
  })

  it.each(['0', '3-1', 'all', '1,2', '-3', '1-2-3'])('pages "%s" are none', async asked => {
    place.write('a.pdf', pdf(pages(3)))
    expect(await refusal('a.pdf', { pages: asked })).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(asked),
    })
  })

  it('is given as images where that is asked', async () => {
    const found = await view(place.write('a.pdf', pdf(pages(3))), { pages: '2-3', images: true })
    expect(found.pages.map(({ number, text }) => ({ number, text }))).toEqual([
      { number: 2, text: '' },
      { number: 3, text: '' },
    ])
    for (const { image } of found.pages) {
      expect(image).toMatchObject({ mediaType: 'image/png', width: 1_212, height: 1_568 })
      expect(pngSize(Buffer.from(image?.data ?? []))).toEqual([1_212, 1_568])
    }
  })

  it('of any page size is drawn within the limits', async () => {
    const found = await view(place.write('wide.pdf', pdf(['x'], { box: [14_400, 3] })), { images: true })
    expect(found.pages[0]?.image).toMatchObject({ width: 1_568, height: 1 })
  })

  it('is fetched only as far as it is needed', async () => {
    const large = pdf(pages(30), { image: randomBytes(1024 ** 2) })
    place.write('large.pdf', large)
    const before = place.fetched
    const found = await view('large.pdf', { pages: '29' })
    expect(found.pages[0]?.text).toContain('Page 29 here')
    expect(place.fetched - before).toBeLessThan(large.length / 5)
  })

  it('with more text than an answer holds stops, and says where', async () => {
    const small = new Place({ limits: { readMaxBytes: 300 } })
    try {
      const found = await view(small.write('a.pdf', pdf(pages(3).map(text => `${text} ${'word '.repeat(30)}`))), {}, small)
      expect(found.pages.map(({ number, cut }) => [number, cut > 0])).toEqual([
        [1, false],
        [2, true],
      ])
      expect(found.stopped).toContain('300 characters')
    } finally {
      small.dispose()
    }
  })
})

describe('a hostile PDF', () => {
  const opaque = (name: string, content: Uint8Array) => view(place.write(name, content)) as unknown as Promise<OpaqueView>

  it('that is encrypted says so', async () => {
    const found = await opaque('secret.pdf', pdf(pages(1), { trailer: ENCRYPTED }))
    expect(found).toMatchObject({
      kind: 'opaque',
      why: expect.stringContaining('password'),
      hint: expect.stringContaining('qpdf'),
    })
  })

  it('that is damaged, cut or none says so, or gives what is left', async () => {
    const whole = pdf(pages(5))
    expect(await opaque('junk.pdf', Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(5_000)]))).toMatchObject({
      kind: 'opaque',
      why: 'The PDF is damaged, or none.',
    })
    for (let end = 20; end < whole.length; end += 331) {
      const found = await view(place.write('cut.pdf', whole.subarray(0, end)))
      expect(['opaque', 'pdf']).toContain(found.kind)
    }
  })

  it('with a page that is too much gives the pages before it', async () => {
    // Contents of a few KB that expand to more than the reader may hold.
    const bomb = deflateSync(Buffer.alloc(400e6, 'q '), { level: 1 })
    const found = await view(place.write('bomb.pdf', pdf(['one', 'two', 'three'], { contents: { page: 2, packed: bomb } })))
    expect(found.pages.map(({ number, text }) => [number, text])).toEqual([[1, 'one']])
    expect(found.stopped).toMatch(/^together with the pages before it takes too much (memory|time)/)
    const alone = await view('bomb.pdf', { pages: '2-3' })
    expect(alone.pages).toEqual([{ number: 2, text: '', cut: 0, why: expect.stringMatching(/too much (memory|time)/) }])
    expect(alone.stopped).toBeUndefined()
    expect((await view('bomb.pdf', { pages: '3' })).pages[0]?.text).toBe('three')
  })

  it('whose pages take long is given as far as the time allows, the first page always', async () => {
    const bytes = pdf(pages(4))
    const source = { size: bytes.length, read: async (at: number, length: number) => bytes.subarray(at, at + length) }
    const bounds = { maxEdge: 400, maxBytes: 1e6, maxChars: 1e6 }
    const read = async (first: number, maxMs: number) => {
      const job = { kind: 'pdf', size: bytes.length, first, last: 4, images: true, ...bounds, maxMs } as const
      const said: unknown[] = []
      for await (const message of runFileReader(job, { source, script: `${place.folder}/dist/file-reader.mjs` }))
        said.push(message.kind === 'page' ? message.page.number : message)
      return said
    }
    const opened = (first: number) => ({ kind: 'pdf', pageCount: 4, first, last: 4 })
    const why = 'the pages before took as long as one answer may'
    expect(await read(1, 0.001)).toEqual([opened(1), 1, { kind: 'stopped', why }])
    expect(await read(2, 0.001)).toEqual([opened(2), 2, { kind: 'stopped', why }])
    expect(await read(4, 0.001)).toEqual([opened(4), 4])
    expect(await read(1, 1e6)).toEqual([opened(1), 1, 2, 3, 4])
  })

  it('without the library the answer names it', async () => {
    const found = (await view(without.write('a.pdf', pdf(pages(1))), {}, without)) as unknown as OpaqueView
    expect(found).toMatchObject({
      kind: 'opaque',
      why: expect.stringContaining('"@hyzyla/pdfium"'),
      hint: expect.stringContaining('npm install @hyzyla/pdfium'),
    })
    const drawn = (await view('a.pdf', { images: true }, without)) as unknown as OpaqueView
    expect(drawn.why).toContain('"@hyzyla/pdfium"')
  })
})

it('pages and images are for PDF files', async () => {
  place.write('a.txt', 'text\n')
  expect(await refusal('a.txt', { pages: '1' })).toMatchObject({ code: 'invalid_argument', hint: 'Use offset and limit.' })
  expect(await refusal('a.txt', { images: true })).toMatchObject({ code: 'invalid_argument' })
})

it('its pages are drawn without the library for images too', async () => {
  const plain = new Place({ packages: ['@hyzyla/pdfium'] })
  try {
    const found = await view(plain.write('a.pdf', pdf(pages(1))), { images: true }, plain)
    const [page] = found.pages
    expect(page?.image).toMatchObject({ mediaType: 'image/png', width: 1_212, height: 1_568 })
    const { channels } = await sharp(page?.image?.data, { failOn: 'warning' }).stats()
    // Black letters on white.
    expect(channels.map(({ min, max }) => [min, max])).toEqual(Array(3).fill([0, 255]))
  } finally {
    plain.dispose()
  }
})
