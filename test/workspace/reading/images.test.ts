import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FileView, ImageView, OpaqueView } from '../../../src/workspace/reading/view.ts'
import { png, pngSize } from '../../support/documents.ts'
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

const view = (path: string, at = place): Promise<FileView> => at.viewer.view({ path, session: 's' })
const image = async (name: string, content: Uint8Array) => (await view(place.write(name, content))) as ImageView
const opaque = async (name: string, content: Uint8Array) => (await view(place.write(name, content))) as OpaqueView
const noise = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#000', noise: { type: 'gaussian', mean: 128, sigma: 50 } } })

describe('an image', () => {
  it.each(['png', 'jpeg', 'webp', 'gif'] as const)('of kind %s is given as it lies there', async kind => {
    const bytes = await noise(60, 40)[kind]().toBuffer()
    const found = await image(`a.${kind}`, bytes)
    expect(found).toMatchObject({
      kind: 'image',
      mediaType: `image/${kind}`,
      width: 60,
      height: 40,
      frames: 1,
      size: bytes.length,
    })
    expect(found.image.mediaType).toBe(`image/${kind}`)
    expect(Buffer.from(found.image.data).equals(bytes)).toBe(true)
  })

  it.each(['avif', 'tiff'] as const)('of kind %s, which few clients show, is given as PNG', async kind => {
    const found = await image(`a.${kind}`, await noise(60, 40)[kind]().toBuffer())
    expect(found).toMatchObject({ mediaType: `image/${kind}`, width: 60, height: 40 })
    expect(found.image.mediaType).toBe('image/png')
    expect(pngSize(Buffer.from(found.image.data))).toEqual([60, 40])
  })

  it('with too long an edge is scaled down, its proportions kept', async () => {
    const found = await image('wide.png', png(6_000, 1_500))
    expect(found).toMatchObject({ width: 6_000, height: 1_500 })
    expect(found.image).toMatchObject({ width: 2_000, height: 500 })
    expect(pngSize(Buffer.from(found.image.data))).toEqual([2_000, 500])
  })

  it('with too many bytes is made smaller until it fits', async () => {
    const small = new Place({ limits: { offloadMediaBytes: 40_000 } })
    try {
      const found = (await view(small.write('n.png', await noise(900, 900).png().toBuffer()), small)) as ImageView
      expect(found.image.data.length).toBeLessThanOrEqual(30_000)
      const { format, width } = await sharp(found.image.data).metadata()
      expect({ format, width }).toEqual({ format: 'jpeg', width: found.image.width })
    } finally {
      small.dispose()
    }
  })

  it('is turned upright', async () => {
    const turned = await noise(60, 40).withMetadata({ orientation: 6 }).jpeg().toBuffer()
    const found = await image('turned.jpg', turned)
    expect(found).toMatchObject({ width: 40, height: 60, image: { width: 40, height: 60, mediaType: 'image/jpeg' } })
  })

  it('in CMYK is given in sRGB', async () => {
    const found = await image('print.jpg', await noise(60, 40).toColourspace('cmyk').jpeg().toBuffer())
    expect((await sharp(found.image.data).metadata()).space).toBe('srgb')
  })

  it('that moves is shown by its first frame', async () => {
    const frame = (background: string) =>
      sharp({ create: { width: 20, height: 20, channels: 3, background } })
        .png()
        .toBuffer()
    const moving = await sharp([await frame('#c00'), await frame('#0c0')], { join: { animated: true } })
      .gif()
      .toBuffer()
    const found = await image('moving.gif', moving)
    expect(found).toMatchObject({ frames: 2, image: { mediaType: 'image/png', width: 20, height: 20 } })
  })

  it('is known by its bytes, not by its name', async () => {
    expect(await image('image.txt', png(5, 5))).toMatchObject({ kind: 'image', mediaType: 'image/png' })
    expect(await view(place.write('text.png', 'no image\n'))).toMatchObject({ kind: 'text', result: { lines: ['no image'] } })
    const polyglot = Buffer.concat([png(5, 5), Buffer.from('PK\x03\x04 and more')])
    expect(await image('both.zip', polyglot)).toMatchObject({ kind: 'image', image: { mediaType: 'image/png' } })
  })
})

describe('what is no image to show', () => {
  it('is told, with the reason, where it is cut or broken', async () => {
    const whole = await noise(200, 200).png().toBuffer()
    const broken = Buffer.from(whole)
    broken.fill(0x55, 3_000, 3_500)
    const photo = await noise(200, 200).jpeg().toBuffer()
    for (const [name, content] of [
      ['cut.png', whole.subarray(0, whole.length / 2)],
      ['broken.png', broken],
      ['cut.jpg', photo.subarray(0, photo.length / 2)],
      ['junk.png', Buffer.from('\x89PNG\r\n\x1a\njunk', 'latin1')],
    ] as const) {
      const found = await opaque(name, content)
      expect(found).toMatchObject({ kind: 'opaque', why: expect.stringContaining("can't be decoded") })
    }
  })

  it('a photo with a fault inside is made anew, whole', async () => {
    const bytes = await noise(200, 200).jpeg().toBuffer()
    bytes.fill(0xff, 2_000, 2_200)
    const found = await image('fault.jpg', bytes)
    expect(Buffer.from(found.image.data).equals(bytes)).toBe(false)
    await sharp(found.image.data, { failOn: 'warning' }).stats()
  })

  it('a bomb that has to be held whole is refused by its pixels before it is decoded', async () => {
    const found = await opaque('bomb.png', png(20_000, 20_000, { depth: 1, interlaced: true }))
    expect(found.why).toMatch(/20000 × 20000 pixels; of interlaced or progressive png images up to 32 million/)
    const wide = png(8, 8)
    wide.writeUInt32BE(100_000, 16)
    wide.writeUInt32BE(100_000, 20)
    expect((await opaque('huge.png', wide)).kind).toBe('opaque')
  })

  it('20 000 × 20 000 pixels are scaled down, or refused with the reason', async () => {
    const found = await view(place.write('large.png', png(20_000, 20_000, { depth: 1 })))
    if (found.kind === 'opaque') expect(found.why).toMatch(/too much (time|memory)/)
    else expect(found).toMatchObject({ kind: 'image', width: 20_000, image: { width: 2_000, height: 2_000 } })
  })

  it('a file that is too large is not fetched', async () => {
    const before = place.fetched
    const found = await opaque('large.tif', Buffer.concat([Buffer.from('II*\0'), Buffer.alloc(25 * 1024 ** 2)]))
    expect(found.why).toContain('at most 25165824')
    expect(place.fetched).toBe(before)
  })

  it('without the library the answer names it, and nothing but its head is fetched', async () => {
    const large = await noise(900, 900).jpeg().toBuffer()
    const found = await view(without.write('a.jpg', large), without)
    expect(found).toMatchObject({
      kind: 'opaque',
      mediaType: 'image/jpeg',
      why: expect.stringContaining('"sharp"'),
      hint: expect.stringContaining('npm install sharp'),
    })
    expect(without.fetched).toBeLessThan(large.length / 2)
  })
})

describe('a PNG without the library', () => {
  it.each([
    ['grey', () => noise(41, 23).greyscale().png().toBuffer()],
    ['colour', () => noise(41, 23).png().toBuffer()],
    ['alpha', () => noise(41, 23).ensureAlpha().png().toBuffer()],
    ['a palette', () => noise(41, 23).png({ palette: true, colours: 16 }).toBuffer()],
    ['interlaced', () => noise(41, 23).png({ progressive: true }).toBuffer()],
    ['one bit', async () => png(41, 23, { depth: 1 })],
    ['16 bits', () => noise(41, 23).toColourspace('rgb16').png().toBuffer()],
  ])('of %s is given as it lies there', async (_kind, make) => {
    const bytes = await make()
    const found = (await view(without.write('a.png', bytes), without)) as ImageView
    expect(found).toMatchObject({ kind: 'image', width: 41, height: 23 })
    expect(Buffer.from(found.image.data).equals(bytes)).toBe(true)
  })

  it('that is cut, broken, too large or a bomb is told', async () => {
    const whole = await noise(100, 100).png().toBuffer()
    const broken = Buffer.from(whole)
    broken[200] = (broken[200] ?? 0) ^ 1
    for (const bytes of [whole.subarray(0, -20), broken, png(2_001, 5), png(100, 100, { interlaced: true })]) {
      const found = await view(without.write('bad.png', bytes), without)
      expect(found).toMatchObject({ kind: 'opaque', why: expect.stringContaining('"sharp"') })
    }
  })
})
