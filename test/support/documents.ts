import { crc32, deflateSync } from 'node:zlib'

/** A flat grey PNG: a byte a pixel, or a bit (`depth: 1`), which makes a bomb of few bytes. */
export function png(width: number, height: number, { depth = 8, interlaced = false } = {}): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = depth
  header[12] = interlaced ? 1 : 0
  const row = 1 + Math.ceil((width * depth) / 8)
  const rows = Buffer.alloc(row * height, 0x55)
  for (let y = 0; y < height; y++) rows[y * row] = 0
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows, { level: 1 })), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts])
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  data.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}

/** Width and height that a PNG tells of itself. */
export const pngSize = (bytes: Buffer): [width: number, height: number] => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]

export interface PdfOptions {
  /** Deflated drawing commands of one page (from 1), or of all, in place of the text. */
  contents?: { page?: number; packed: Buffer }
  /** Bytes of an image that each page has one of. */
  image?: Buffer
  /** Further entries of the trailer. */
  trailer?: string
  /** Edges of the pages, in points. */
  box?: [width: number, height: number]
}

/** A PDF with a page for each text, a line for each of its lines. */
export function pdf(pages: readonly string[], { contents, image, trailer = '', box = [612, 792] }: PdfOptions = {}): Buffer {
  const objects: Buffer[] = []
  const add = (text: string, stream?: Buffer) => objects.push(stream === undefined ? Buffer.from(text) : withStream(text, stream))
  add('<</Type/Catalog/Pages 2 0 R>>')
  add('')
  add('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>')
  const kids = pages.map((text, index) => {
    const drawn = image === undefined ? '' : `/XObject<</I ${addImage(add, image)} 0 R>>`
    const lines = text.split('\n').map(line => `(${line.replace(/[()\\]/g, '\\$&')}) Tj 0 -30 Td`)
    const commands = `BT /F1 24 Tf 72 720 Td ${lines.join(' ')} ET${image ? ' q 90 0 0 90 72 90 cm /I Do Q' : ''}`
    const packed = (contents?.page ?? index + 1) === index + 1 ? contents?.packed : undefined
    const at = packed === undefined ? add('<<>>', Buffer.from(commands)) : add('<</Filter/FlateDecode>>', packed)
    return add(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${box.join(' ')}]/Contents ${at} 0 R/Resources<</Font<</F1 3 0 R>>${drawn}>>>>`,
    )
  })
  objects[1] = Buffer.from(`<</Type/Pages/Count ${kids.length}/Kids[${kids.map(kid => `${kid} 0 R`).join(' ')}]>>`)
  return assemble(objects, trailer)
}

const withStream = (text: string, stream: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${text.replace(/>>$/, `/Length ${stream.length}>>`)}\nstream\n`),
    stream,
    Buffer.from('\nendstream'),
  ])

function addImage(add: (text: string, stream: Buffer) => number, image: Buffer): number {
  const side = Math.floor(Math.sqrt(image.length / 3))
  const form = `/Subtype/Image/Width ${side}/Height ${side}/ColorSpace/DeviceRGB/BitsPerComponent 8`
  return add(`<<${form}>>`, image.subarray(0, 3 * side * side))
}

function assemble(objects: readonly Buffer[], trailer: string): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n')]
  const places: number[] = []
  let length = 9
  for (const [index, object] of objects.entries()) {
    places.push(length)
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')])
    parts.push(part)
    length += part.length
  }
  const table = places.map(place => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R${trailer}>>\nstartxref\n${length}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}

/** Trailer of a PDF that takes a password nobody has. */
export const ENCRYPTED = `/ID[<${'00'.repeat(16)}><${'00'.repeat(16)}>]/Encrypt<</Filter/Standard/V 1/R 2/O<${'41'.repeat(32)}>/U<${'42'.repeat(32)}>/P -4>>`

export interface Cell {
  type?: 'code' | 'markdown'
  id?: string
  source: string | string[]
  run?: number
  outputs?: object[]
}

/** A notebook as Jupyter writes it: indented by one space, a newline at its end. */
export function notebook(cells: readonly Cell[], { indent = 1 as number | undefined, end = '\n' } = {}): string {
  const written = cells.map(({ type = 'code', id, source, run, outputs = [] }) => ({
    cell_type: type,
    ...(type === 'code' && { execution_count: run ?? null }),
    ...(id !== undefined && { id }),
    metadata: {},
    ...(type === 'code' && { outputs }),
    source,
  }))
  const metadata = { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } }
  return JSON.stringify({ cells: written, metadata, nbformat: 4, nbformat_minor: 5 }, null, indent) + end
}

/** A WAV of silence. */
export function wav(samples: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(8_000, 24)
  header.writeUInt32LE(8_000, 28)
  header.writeUInt16LE(1, 32)
  header.writeUInt16LE(8, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples, 40)
  return Buffer.concat([header, Buffer.alloc(samples, 0x80)])
}

/** An AIFF of silence. */
export function aiff(samples: number): Buffer {
  const header = Buffer.alloc(54)
  header.write('FORM', 0)
  header.writeUInt32BE(46 + samples, 4)
  header.write('AIFFCOMM', 8)
  header.writeUInt32BE(18, 16)
  header.writeUInt16BE(1, 20)
  header.writeUInt32BE(samples, 22)
  header.writeUInt16BE(8, 26)
  // 8 000 as a number of 80 bits.
  header.write('400bfa00000000000000', 28, 'hex')
  header.write('SSND', 38)
  header.writeUInt32BE(8 + samples, 42)
  return Buffer.concat([header, Buffer.alloc(samples)])
}
