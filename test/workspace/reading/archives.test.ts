import { appendFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ArchiveView, AudioView, FileView, OpaqueView } from '../../../src/workspace/reading/view.ts'
import { noise, tar, tarGz, zip } from '../../support/archives.ts'
import { aiff, wav } from '../../support/documents.ts'
import { Place } from './place.ts'

let place: Place
beforeAll(() => {
  place = new Place()
})
afterAll(() => place.dispose())

const view = (name: string, content: Uint8Array): Promise<FileView> =>
  place.viewer.view({ path: place.write(name, content), session: 's' })
const archive = async (name: string, content: Uint8Array) => (await view(name, content)) as ArchiveView

const MEMBERS = [
  { name: 'folder/', mode: 0o040755, type: '5' },
  { name: 'folder/a.txt', content: 'twelve bytes' },
  { name: '../up', content: 'x' },
  { name: '/absolute\nname', content: 'y' },
]
const LISTED = [
  { path: 'folder/', folder: true, size: 0 },
  { path: 'folder/a.txt', folder: false, size: 12 },
  { path: '../up', folder: false, size: 1 },
  { path: '/absolute\nname', folder: false, size: 1 },
]

describe('an archive', () => {
  it.each([
    ['zip', zip(MEMBERS)],
    ['tar', tar(MEMBERS)],
    ['tar.gz', tarGz(MEMBERS)],
  ])('of kind %s is listed, whatever its members are called', async (format, content) => {
    const found = await archive('a.bin', content)
    expect(found).toMatchObject({ kind: 'archive', format, count: 4, bytes: 14, encrypted: false })
    expect(found.entries).toEqual(LISTED)
  })

  it('with many members is listed by its first ones', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ name: `f${index}`, content: 'ab' }))
    for (const content of [zip(many), tar(many)]) {
      const found = await archive('many', content)
      expect(found).toMatchObject({ count: 1_000, bytes: 2_000 })
      expect(found.entries).toHaveLength(200)
    }
  })

  it('of any size is listed by the directory at its end', async () => {
    const large = zip([{ name: 'large', content: noise(8_000_000) }])
    const before = place.fetched
    expect(await archive('large.zip', large)).toMatchObject({ count: 1, bytes: 8_000_000 })
    expect(place.fetched - before).toBeLessThan(500_000)
  })

  it('that is a large tar is listed by its headers', async () => {
    const large = tar([{ name: 'large', declared: 2 ** 30 }]).subarray(0, 512)
    const path = place.write('large.tar', large)
    truncateSync(join(place.folder, path), 512 + 2 ** 30)
    appendFileSync(join(place.folder, path), tar([{ name: 'last', content: 'x' }]))
    const before = place.fetched
    expect(await place.viewer.view({ path, session: 's' })).toMatchObject({
      count: 2,
      bytes: 2 ** 30 + 1,
      entries: [{ path: 'large' }, { path: 'last' }],
    })
    expect(place.fetched - before).toBeLessThan(500_000)
  })

  it('that would expand to much is not expanded', async () => {
    const bomb = gzipSync(Buffer.alloc(60 * 1024 ** 2), { level: 1 })
    expect(await archive('bomb.gz', bomb)).toMatchObject({ format: 'gzip', entries: [], begins: undefined })
    const huge = tarGz([
      { name: 'small', content: 'x' },
      { name: 'zeros', content: Buffer.alloc(300 * 1024 ** 2) },
    ])
    const found = await archive('bomb.tgz', huge)
    expect(found.entries.map(({ path }) => path)).toEqual(['small', 'zeros'])
    expect(found.count).toBeUndefined()
  })

  it('of a single text is shown by its beginning', async () => {
    expect(await archive('a.log.gz', gzipSync('first line é\nsecond\n'))).toMatchObject({
      format: 'gzip',
      begins: 'first line é\nsecond\n',
    })
  })

  it('that is cut or broken says so', async () => {
    const packed = tarGz(MEMBERS)
    const unzipped = zip(MEMBERS)
    for (const content of [unzipped.subarray(0, unzipped.length - 30), packed.subarray(0, 40), Buffer.from('PK\x03\x04 junk')]) {
      const found = (await view('cut', content)) as OpaqueView
      expect(found).toMatchObject({ kind: 'opaque', why: expect.stringContaining("can't be listed") })
    }
  })
})

describe('a hostile archive', () => {
  it('whose members are encrypted is listed, and says so', async () => {
    const secret = zip([
      { name: 'open.txt', content: 'x' },
      { name: 'secret.txt', content: noise(64), encrypted: true },
    ])
    const found = await archive('secret.zip', secret)
    expect(found).toMatchObject({ kind: 'archive', count: 2, encrypted: true })
    expect(found.entries.map(({ path }) => path)).toEqual(['open.txt', 'secret.txt'])
  })

  it.each([
    ['fewer members than it has', 3, 'it tells of 3 members, but its directory holds more'],
    ['none', 0, 'it tells of 0 members, but its directory holds more'],
    ['more members than it has', 5, /invalid|end/],
    ['members without number', 60_000, 'it tells of 60000 members, which it has no room for'],
  ])('that tells of %s is told as broken', async (_, told, why) => {
    const found = (await view('lying.zip', zip(MEMBERS, { told }))) as OpaqueView
    expect(found).toMatchObject({ kind: 'opaque', why: expect.stringMatching(why) })
    expect(found.why).toContain("can't be listed")
  })

  it('whose members lie about their sizes is listed as it tells', async () => {
    const found = await archive('lying.zip', zip([{ name: 'a', content: 'x', declared: 4_000_000_000 }]))
    expect(found).toMatchObject({ count: 1, entries: [{ path: 'a', size: 4_000_000_000 }] })
  })
})

describe('a sound', () => {
  it('is given as it is', async () => {
    const bytes = wav(4_000)
    const found = (await view('a.wav', bytes)) as AudioView
    expect(found).toMatchObject({ kind: 'audio', mediaType: 'audio/wav', size: bytes.length })
    expect(Buffer.from(found.data).equals(bytes)).toBe(true)
  })

  it.each([
    ['wav', wav(4_000), 44],
    ['aiff', aiff(4_000), 54],
    [
      'flac',
      Buffer.concat([Buffer.from('fLaC\x80\0\0\x22', 'latin1'), Buffer.alloc(34), Buffer.from('\xff\xf8 frames', 'latin1')]),
      42,
    ],
    [
      'mp3',
      Buffer.concat([
        Buffer.from('ID3\x04\0\0\0\0\x01\x00', 'latin1'),
        Buffer.alloc(128),
        Buffer.from('\xff\xfb\x90\x44', 'latin1'),
      ]),
      138,
    ],
  ])('of kind %s is given cut as it is, and not where only its header is left', async (name, whole, header) => {
    const cut = whole.subarray(0, header + 2)
    const found = (await view(`cut.${name}`, cut)) as AudioView
    expect(Buffer.from(found.data).equals(cut)).toBe(true)
    expect(found.told).toBe(/wav|aiff/.test(name) ? whole.length : undefined)
    for (const end of [header, header - 1, header - 20]) {
      const none = (await view(`none.${name}`, whole.subarray(0, end))) as OpaqueView
      expect(none, `${end} bytes`).toMatchObject({ kind: 'opaque', why: expect.stringContaining('no sound') })
    }
    for (let end = 0; end < header; end += 1) expect((await view(`any.${name}`, whole.subarray(0, end))).kind).not.toBe('audio')
  })

  it('of a stream that does not know its length is whole', async () => {
    const bytes = wav(400)
    bytes.writeUInt32LE(0xffffffff, 4)
    bytes.writeUInt32LE(0xffffffff, 40)
    expect(((await view('stream.wav', bytes)) as AudioView).told).toBeUndefined()
  })

  it('that is too large says so', async () => {
    expect(await view('long.wav', wav(5_000_000))).toMatchObject({
      kind: 'opaque',
      mediaType: 'audio/wav',
      hint: expect.stringContaining('ffmpeg'),
    })
  })
})

it('any other file is told by type, size and first bytes', async () => {
  const found = await view('a.db', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(100)]))
  expect(found).toMatchObject({ kind: 'opaque', mediaType: 'application/vnd.sqlite3', size: 116 })
  expect('why' in found).toBe(false)
})
