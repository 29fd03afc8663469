import { crc32, deflateSync, inflateSync } from 'node:zlib'
import type { ImageFacts, ShownImage } from '../view.ts'
import type { Pixels } from './pixels.ts'
import type { ImageBounds } from './protocol.ts'

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
/** Samples of a pixel by colour type, and the depths that each may have. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}
/** First column and row of each pass of an interlaced image, and the steps between them. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const
const LAST_FILTER = 4

export const isPng = (bytes: Uint8Array): boolean => SIGNATURE.equals(bytes.subarray(0, SIGNATURE.length))

/** A PNG that is whole and within the limits, as it lies there; `undefined` for any other. Takes nothing but Node. */
export function readPlainPng(bytes: Uint8Array, { maxEdge, maxBytes }: ImageBounds): ImageFacts | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.length > maxBytes || !isPng(file)) return undefined
  const chunks = chunksOf(file)
  const header = chunks?.[0]
  if (chunks === undefined || header?.type !== 'IHDR' || header.data.length !== 13) return undefined
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)]
  if (width < 1 || height < 1 || Math.max(width, height) > maxEdge || !hasPixels(chunks, header.data)) return undefined
  return { width, height, frames: 1, image: { mediaType: 'image/png', data: bytes, width, height } }
}

interface Chunk {
  type: string
  data: Buffer
}

/** All parts of a file whose checksums hold, up to its end. */
function chunksOf(file: Buffer): Chunk[] | undefined {
  const chunks: Chunk[] = []
  for (let at = SIGNATURE.length; at + 12 <= file.length; ) {
    const end = at + 8 + file.readUInt32BE(at)
    if (end + 4 > file.length || crc32(file.subarray(at + 4, end)) !== file.readUInt32BE(end)) return undefined
    const type = file.toString('latin1', at + 4, at + 8)
    if (type === 'IEND') return chunks
    chunks.push({ type, data: file.subarray(at + 8, end) })
    at = end + 4
  }
  return undefined
}

/** Whether the data holds exactly the rows that the header tells. */
function hasPixels(chunks: readonly Chunk[], header: Buffer): boolean {
  const [depth = 0, colour = 0, , , interlace = 0] = header.subarray(8)
  if (DEPTHS[colour]?.includes(depth) !== true || interlace > 1) return false
  if (colour === 3 && !chunks.some(({ type }) => type === 'PLTE')) return false
  const rows = rowsOf(header, { bits: depth * (SAMPLES[colour] ?? 0), interlaced: interlace === 1 })
  const length = rows.reduce((sum, row) => sum + row, 0)
  const packed = Buffer.concat(chunks.flatMap(({ type, data }) => (type === 'IDAT' ? [data] : [])))
  try {
    const pixels = inflateSync(packed, { maxOutputLength: length })
    return pixels.length === length && filtersOf(pixels, rows).every(filter => filter <= LAST_FILTER)
  } catch {
    return false
  }
}

function filtersOf(pixels: Buffer, rows: readonly number[]): number[] {
  let at = 0
  return rows.map(row => {
    const filter = pixels.readUInt8(at)
    at += row
    return filter
  })
}

/** Bytes of each row, with that of its filter. */
function rowsOf(header: Buffer, { bits, interlaced }: { bits: number; interlaced: boolean }): number[] {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  return (interlaced ? PASSES : [[0, 0, 1, 1] as const]).flatMap(([x, y, across, down]) => {
    const [columns, rows] = [Math.ceil((width - x) / across), Math.ceil((height - y) / down)]
    return columns < 1 || rows < 1 ? [] : Array<number>(rows).fill(1 + Math.ceil((columns * bits) / 8))
  })
}

/** Opaque pixels as a PNG, without their fourth channel. */
export function writePlainPng({ data, width, height, channels }: Pixels): ShownImage {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  const rows = Buffer.alloc(height * (1 + 3 * width))
  for (let y = 0, to = 0, from = 0; y < height; y++) {
    to += 1
    for (let x = 0; x < width; x++, from += channels, to += 3) {
      rows[to] = data[from]!
      rows[to + 1] = data[from + 1]!
      rows[to + 2] = data[from + 2]!
    }
  }
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows, { level: 6 })), chunk('IEND', Buffer.alloc(0))]
  return { mediaType: 'image/png', data: Buffer.concat([SIGNATURE, ...parts]), width, height }
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  data.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}
