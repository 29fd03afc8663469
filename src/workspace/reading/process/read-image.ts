import type { Metadata, Sharp } from 'sharp'
import type { ImageFacts, ShownImage } from '../view.ts'
import { optionalPackage } from './optional-package.ts'
import type { Pixels } from './pixels.ts'
import { readPlainPng } from './plain-png.ts'
import type { ImageBounds } from './protocol.ts'
import { Refusal } from './refusal.ts'

type Sharping = typeof import('sharp')['default']

/** Formats that clients show. */
const SHOWN = { png: 'image/png', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' } as const
/** Pixels of an image that is decoded line by line, and of one that has to be held whole. */
const MAX_STREAMED_PIXELS = 420e6
const MAX_HELD_PIXELS = 32e6
const COLOURS = new Set<string | undefined>(['srgb', 'rgb16', 'b-w', 'grey16'])
const QUALITY = 80
const MAX_TRIES = 5

/** Loads the library that decodes images; throws a `Refusal` where there is none. */
export async function loadSharp(): Promise<Sharping> {
  const load = async () => (await import('sharp')).default
  const sharp = await optionalPackage('sharp', { what: 'Showing images other than small PNG files', load })
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp
}

/**
 * An image as it can be shown: the file itself where it fits and is whole, else upright and scaled down. Without the library only a PNG that
 * fits. Throws a `Refusal`.
 */
export async function readImage(bytes: Uint8Array, bounds: ImageBounds): Promise<ImageFacts> {
  const sharp = await loadSharp().catch((refused: Refusal) => refused)
  if (sharp instanceof Refusal) {
    const plain = readPlainPng(bytes, bounds)
    if (plain === undefined) throw sharp
    return plain
  }
  const open = (failOn: 'error' | 'warning') => sharp(bytes, { limitInputPixels: false, sequentialRead: true, failOn })
  try {
    const metadata = await open('error').metadata()
    const { width, height } = metadata.autoOrient
    checkPixels(metadata)
    const photo = metadata.format === 'jpeg'
    const own = await asItIs(bytes, { metadata, bounds, whole: () => open('warning').stats() })
    const image = own ?? (await fitted(() => open('error').autoOrient(), { ...bounds, photo }))
    return { width, height, frames: metadata.pages ?? 1, image }
  } catch (error) {
    if (error instanceof Refusal) throw error
    const hint = 'It is damaged, or of a kind that is not known here: get it again, or convert it with Bash.'
    throw new Refusal('unsupported', `The image can't be decoded: ${reason(error)}.`, hint)
  }
}

function checkPixels({ format, width, height, pages = 1, isProgressive = false }: Metadata): void {
  const streamed = (format === 'png' || format === 'jpeg') && !isProgressive && pages === 1
  const most = streamed ? MAX_STREAMED_PIXELS : MAX_HELD_PIXELS
  if (width * height <= most) return
  const form = isProgressive ? 'interlaced or progressive ' : ''
  throw new Refusal(
    'too_large',
    `The image has ${width} × ${height} pixels; of ${form}${format} images up to ${most / 1e6} million are decoded.`,
    'Scale it down with Bash, e.g. with ImageMagick or Python.',
  )
}

interface Given {
  metadata: Metadata
  bounds: ImageBounds
  /** Decodes every pixel; rejects where anything is wrong. */
  whole(): Promise<unknown>
}

/** The file itself, where any client can show it. */
async function asItIs(bytes: Uint8Array, { metadata, bounds, whole }: Given): Promise<ShownImage | undefined> {
  const { format, width, height, pages = 1, orientation = 1, space } = metadata
  const mediaType = Object.hasOwn(SHOWN, format) ? SHOWN[format as keyof typeof SHOWN] : undefined
  if (mediaType === undefined || pages > 1 || orientation > 1 || !COLOURS.has(space)) return undefined
  if (Math.max(width, height) > bounds.maxEdge || bytes.length > bounds.maxBytes) return undefined
  // What is a little damaged is made anew.
  const broken = await whole().then(
    () => false,
    () => true,
  )
  return broken ? undefined : { mediaType, data: bytes, width, height }
}

/** Pixels as an image. */
export function encodeImage(
  sharp: Sharping,
  { data, width, height, channels }: Pixels,
  { maxEdge, maxBytes }: ImageBounds,
): Promise<ShownImage> {
  return fitted(() => sharp(data, { raw: { width, height, channels } }), { maxEdge, maxBytes, photo: false })
}

/** An image as PNG, or as JPEG where it is a photo or PNG is too large; made smaller until it fits. It is decoded for each try. */
async function fitted(open: () => Sharp, { maxEdge, maxBytes, photo }: ImageBounds & { photo: boolean }): Promise<ShownImage> {
  let edge = maxEdge
  let asPng = !photo
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const small = open().resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true }).toColourspace('srgb')
    const encoded = asPng ? small.png() : small.flatten({ background: '#ffffff' }).jpeg({ quality: QUALITY })
    const { data, info } = await encoded.toBuffer({ resolveWithObject: true })
    if (data.length <= maxBytes)
      return { mediaType: asPng ? 'image/png' : 'image/jpeg', data, width: info.width, height: info.height }
    const longer = Math.max(info.width, info.height)
    if (!asPng) edge = Math.max(1, Math.floor(longer * Math.min(0.75, Math.sqrt(maxBytes / data.length))))
    asPng = false
  }
  throw new Refusal('too_large', `The image does not fit into ${maxBytes} bytes.`, 'Crop it with Bash.')
}

function reason(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.slice(0, 200).replace(/[\s:.]+$/, '')
}
