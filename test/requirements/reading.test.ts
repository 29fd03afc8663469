import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { expect } from 'vitest'
import { tarGz, zip } from '../support/archives.ts'
import { textOf } from '../support/client.ts'
import { ENCRYPTED, notebook, pdf, png, pngSize, wav } from '../support/documents.ts'
import { childrenOf, isAlive, killOne, until } from '../support/processes.ts'
import { type Case, verifies } from '../support/verifies.ts'

interface Media {
  type: string
  data: string
  mimeType: string
}

async function read({ client }: Case, file_path: string, args: object = {}): Promise<{ text: string; media: Media[] }> {
  const result = await client.call('Read', { file_path, ...args })
  if (result.isError) throw new Error(textOf(result))
  return { text: textOf(result), media: result.content.filter(part => part.type !== 'text') as unknown as Media[] }
}

const bytesOf = (media: Media | undefined): Buffer => Buffer.from(media?.data ?? '', 'base64')
const pages = (count: number) => Array.from({ length: count }, (_, index) => `This is page ${index + 1}.`)

verifies('read.image', async test => {
  const bytes = png(30, 20)
  writeFileSync(join(test.dir, 'image.txt'), bytes)
  const { text, media } = await read(test, 'image.txt')
  expect(text).toMatch(/PNG image: 30 × 20 pixels/)
  expect(media).toEqual([{ type: 'image', mimeType: 'image/png', data: bytes.toString('base64') }])
  writeFileSync(join(test.dir, 'text.png'), 'only text\n')
  expect(await read(test, 'text.png')).toMatchObject({ text: expect.stringContaining('only text'), media: [] })
})

verifies('read.image.scaled', async test => {
  writeFileSync(join(test.dir, 'wide.png'), png(8_000, 4_000))
  const { text, media } = await read(test, 'wide.png')
  expect(text).toMatch(/8000 × 4000 pixels[\s\S]*shown as 2000 × 1000 pixels: multiply coordinates by 4 /)
  expect(pngSize(bytesOf(media[0]))).toEqual([2_000, 1_000])
  const create = { width: 1_500, height: 1_500, channels: 3, background: '#000', noise: { type: 'gaussian', sigma: 90 } } as const
  writeFileSync(join(test.dir, 'noise.png'), await sharp({ create }).png().toBuffer())
  const noise = await read(test, 'noise.png')
  expect(noise.media[0]?.data.length).toBeLessThanOrEqual(5 * 1024 ** 2)
  await sharp(bytesOf(noise.media[0]), { failOn: 'warning' }).stats()
})

verifies('read.image.broken', async test => {
  const whole = await sharp(png(300, 300)).jpeg().toBuffer()
  writeFileSync(join(test.dir, 'cut.jpg'), whole.subarray(0, whole.length - 200))
  writeFileSync(join(test.dir, 'junk.png'), Buffer.from('\x89PNG\r\n\x1a\njunk', 'latin1'))
  for (const name of ['cut.jpg', 'junk.png']) {
    const { text, media } = await read(test, name)
    expect(text).toMatch(/image \(.*\): not shown\. .*can't be decoded/)
    expect(media).toEqual([])
  }
})

verifies('read.image.bomb', async test => {
  writeFileSync(join(test.dir, 'bomb.png'), png(20_000, 20_000, { depth: 1, interlaced: true }))
  expect((await read(test, 'bomb.png')).text).toMatch(/not shown\. The image has 20000 × 20000 pixels/)
  writeFileSync(join(test.dir, 'large.png'), png(20_000, 20_000, { depth: 1 }))
  const { text, media } = await read(test, 'large.png')
  if (media.length === 0) expect(text).toMatch(/not shown\. It takes too much (time|memory) to read/)
  else expect(pngSize(bytesOf(media[0]))).toEqual([2_000, 2_000])
})

verifies('read.pdf', async test => {
  writeFileSync(join(test.dir, 'a.pdf'), pdf(pages(3)))
  const { text, media } = await read(test, 'a.pdf')
  expect(text).toMatch(/a PDF: 3 pages[\s\S]*page 1 of 3 ---\nThis is page 1\.\n[\s\S]*page 3 of 3 ---\nThis is page 3\./)
  expect(media).toEqual([])
})

verifies('read.pdf.pages', async test => {
  writeFileSync(join(test.dir, 'long.pdf'), pdf(pages(500)))
  expect(await test.client.failure('Read', { file_path: 'long.pdf' })).toMatch(/500 pages: say which[\s\S]*"1-10"; at most 20/)
  expect(await test.client.failure('Read', { file_path: 'long.pdf', pages: '1-21' })).toMatch(/at most 20/)
  expect(await test.client.failure('Read', { file_path: 'long.pdf', pages: '501' })).toMatch(/500 pages/)
  const { text } = await read(test, 'long.pdf', { pages: '481-500' })
  expect(text).toContain('This is page 481.')
  expect(text).toContain('This is page 500.')
  expect(text).not.toContain('This is page 480.')
})

verifies('read.pdf.images', async test => {
  writeFileSync(join(test.dir, 'a.pdf'), pdf(pages(3)))
  const { text, media } = await read(test, 'a.pdf', { pages: '2-3', images: true })
  expect(text).toContain('page 2 of 3')
  expect(media.map(({ type, mimeType }) => [type, mimeType])).toEqual(Array(2).fill(['image', 'image/png']))
  for (const image of media) expect(Math.max(...pngSize(bytesOf(image)))).toBe(1_568)
})

verifies('read.pdf.hostile', async test => {
  writeFileSync(join(test.dir, 'secret.pdf'), pdf(pages(1), { trailer: ENCRYPTED }))
  expect((await read(test, 'secret.pdf')).text).toMatch(/not shown\. .*encrypted[\s\S]*qpdf/)
  writeFileSync(join(test.dir, 'cut.pdf'), pdf(pages(2)).subarray(0, 60))
  expect((await read(test, 'cut.pdf')).text).toMatch(/not shown\. .*damaged/)
})

verifies('read.notebook', async test => {
  const image = { output_type: 'display_data', data: { 'image/png': png(40, 30).toString('base64') }, metadata: {} }
  const stream = { output_type: 'stream', name: 'stdout', text: ['said\n', 'z'.repeat(5_000_000)] }
  const cells = [
    { type: 'markdown' as const, id: 'a1', source: ['# Title\n', 'words'] },
    { id: 'b2', source: 'plot()', run: 4, outputs: [stream, image] },
  ]
  writeFileSync(join(test.dir, 'n.ipynb'), notebook(cells))
  const { text, media } = await read(test, 'n.ipynb')
  expect(text).toMatch(
    /cell 1 · markdown · id a1 ---\n# Title\nwords\n[\s\S]*cell 2 · code · id b2 · run 4 ---\nplot\(\)\n>>> stdout\nsaid\n/,
  )
  expect(text).toMatch(/\[\d+ more characters are left out\]\n>>> display: image 1 \(40 × 30 pixels\)/)
  expect(media.map(pngOf => pngSize(bytesOf(pngOf)))).toEqual([[40, 30]])
  expect((await read(test, 'n.ipynb', { offset: 2, limit: 1 })).text).not.toContain('# Title')
  writeFileSync(join(test.dir, 'broken.ipynb'), '{"cells": [}\n')
  expect((await read(test, 'broken.ipynb')).text).toMatch(/1\t\{"cells": \[\}[\s\S]*not as a notebook/)
})

verifies('read.archive', async test => {
  const members = [{ name: 'docs/a.txt', content: 'twelve bytes' }]
  writeFileSync(join(test.dir, 'a.zip'), zip(members))
  writeFileSync(join(test.dir, 'a.tgz'), tarGz(members))
  for (const name of ['a.zip', 'a.tgz'])
    expect((await read(test, name)).text).toMatch(/1 member, 12 bytes expanded[\s\S]*12 bytes {2}docs\/a\.txt/)
})

verifies('read.audio', async test => {
  const bytes = wav(800)
  writeFileSync(join(test.dir, 'a.bin'), bytes)
  expect((await read(test, 'a.bin')).media).toEqual([{ type: 'audio', mimeType: 'audio/wav', data: bytes.toString('base64') }])
})

verifies('read.host-killed', async test => {
  const strokes = Array.from({ length: 20_000 }, (_, at) => `${at % 600} ${at % 790} m 9 ${at % 99} 400 ${at % 700} 300 9 c S`)
  writeFileSync(join(test.dir, 'slow.pdf'), pdf(pages(20), { contents: { packed: deflateSync(strokes.join('\n')) } }))
  const client = await test.connect({ env: { ATELIER_GRACE_MS: '500' } })
  const reading = client.call('Read', { file_path: 'slow.pdf', pages: '1-20', images: true }).catch(error => error)
  const readers = () => childrenOf(client.pid).filter(({ command }) => command.includes('file-reader.mjs'))
  await until(() => readers().length > 0, 'a reader is at work')
  const [reader] = readers()
  killOne(client.pid)
  await until(() => !isAlive(reader?.pid ?? -1), 'no reader is left')
  await client.close()
  expect(await reading).toBeInstanceOf(Error)
})

verifies('edit.notebook', async test => {
  const before = [
    { id: 'a', source: ['one\n', 'two é'] },
    { id: 'b', source: ['one'], run: 1 },
  ]
  const path = join(test.dir, 'n.ipynb')
  writeFileSync(path, notebook(before, { indent: 2, end: '' }))
  await test.client.text('Read', { file_path: 'n.ipynb' })
  const text = await test.client.text('Edit', { file_path: 'n.ipynb', old_string: 'two', new_string: 'zwei\n"three"' })
  expect(text).toMatch(/cell 1 · id a now reads ---\none\nzwei\n"three" é/)
  const after = [{ id: 'a', source: ['one\n', 'zwei\n', '"three" é'] }, before[1]!]
  expect(readFileSync(path, 'utf8')).toBe(notebook(after, { indent: 2, end: '' }))
  expect(await test.client.failure('Edit', { file_path: 'n.ipynb', old_string: 'one', new_string: '1' })).toMatch(
    /2 times.*cells 1, 2/,
  )
})

verifies('edit.notebook.valid', async test => {
  const path = join(test.dir, 'n.ipynb')
  const before = notebook([{ id: 'a', source: ['one'] }])
  writeFileSync(path, before)
  await test.client.text('Read', { file_path: 'n.ipynb' })
  const broken = await test.client.failure('Edit', {
    file_path: 'n.ipynb',
    old_string: '"nbformat": 4,',
    new_string: '"nbformat": 4',
  })
  expect(broken).toMatch(/would break the notebook[\s\S]*Nothing was written/)
  expect(readFileSync(path, 'utf8')).toBe(before)
})

verifies('resources.image', async test => {
  const bytes = png(30, 20)
  writeFileSync(join(test.dir, 'a.png'), bytes)
  await test.client.text('Read', { file_path: 'a.png' })
  const { resources } = await test.client.client.listResources()
  const uri = resources.map(resource => resource.uri).find(one => /^workspace:\/\/[^/]+$/.test(one))
  const { contents } = await test.client.client.readResource({ uri: `${uri}/a.png` })
  expect(contents).toMatchObject([{ mimeType: 'image/png', blob: bytes.toString('base64') }])
})
