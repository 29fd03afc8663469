import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, createDeflate } from 'node:zlib'
import { line } from './measure.mjs'
import { memoryOf, processesOf, withClient } from './place.mjs'

const MIB = 1024 * 1024
const EDGE = 20_000
const PAGES = 100

function chunk(type, data) {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  data.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}

/** An RGB PNG of 1.2 GB of pixels, 5 MB as a file. */
async function largePng() {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(EDGE, 0)
  header.writeUInt32BE(EDGE, 4)
  header[8] = 8
  header[9] = 2
  const packed = []
  const deflate = createDeflate({ level: 1 }).on('data', part => packed.push(part))
  const ended = new Promise(resolve => deflate.once('end', resolve))
  for (let y = 0; y < EDGE; y += 1) {
    const row = Buffer.alloc(1 + 3 * EDGE, Math.floor(y / 80))
    row[0] = 0
    if (!deflate.write(row)) await new Promise(resolve => deflate.once('drain', resolve))
  }
  deflate.end()
  await ended
  const parts = [chunk('IHDR', header), chunk('IDAT', Buffer.concat(packed)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts])
}

/** A PDF with a line and a picture of 1 MiB on each page. */
function largePdf() {
  const side = Math.floor(Math.sqrt(MIB / 3))
  const bodies = ['<</Type/Catalog/Pages 2 0 R>>', '', '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>']
  const kids = []
  for (let page = 1; page <= PAGES; page += 1) {
    const text = `BT /F1 24 Tf 72 720 Td (Page ${page}) Tj ET q 300 0 0 300 72 300 cm /I Do Q`
    const [contents, image] = [bodies.length + 1, bodies.length + 2]
    const pixels = randomBytes(3 * side * side).toString('latin1')
    bodies.push(
      `<</Length ${text.length}>>\nstream\n${text}\nendstream`,
      `<</Subtype/Image/Width ${side}/Height ${side}/ColorSpace/DeviceRGB/BitsPerComponent 8/Length ${pixels.length}>>\nstream\n${pixels}\nendstream`,
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${contents} 0 R/Resources<</Font<</F1 3 0 R>>/XObject<</I ${image} 0 R>>>>>>`,
    )
    kids.push(`${bodies.length} 0 R`)
  }
  bodies[1] = `<</Type/Pages/Count ${PAGES}/Kids[${kids.join(' ')}]>>`
  const parts = [Buffer.from('%PDF-1.7\n')]
  const places = []
  let length = parts[0].length
  for (const [at, body] of bodies.entries()) {
    places.push(`${String(length).padStart(10, '0')} 00000 n \n`)
    parts.push(Buffer.from(`${at + 1} 0 obj\n${body}\nendobj\n`, 'latin1'))
    length += parts.at(-1).length
  }
  const size = bodies.length + 1
  const trailer = `trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`
  parts.push(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}${trailer}`))
  return Buffer.concat(parts)
}

/** Processor time of a process so far, in ms. */
function workOf(pid) {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /, '')
      .split(' ')
      .slice(11, 13)
    return (Number(user) + Number(system)) * 10
  } catch {
    return 0
  }
}

/** Time of one call, and the most memory and processor time that the process took that reads the file. */
async function watched(client, args) {
  let [peak, work] = [0, 0]
  const timer = setInterval(() => {
    for (const { pid } of processesOf('file-reader.mjs')) {
      peak = Math.max(peak, memoryOf(pid, 'VmHWM') || 0)
      work = Math.max(work, workOf(pid))
    }
  }, 10)
  const start = performance.now()
  try {
    const result = await client.call('Read', args)
    const ms = performance.now() - start
    const text = JSON.stringify(result)
    return { ms, work, peak: peak / MIB, shown: text.includes('"image"') || text.includes('--- page') }
  } finally {
    clearInterval(timer)
  }
}

/** An image of 400 million pixels and a PDF of 100 MB: shown, or refused, within time and memory. */
export const reading = () =>
  withClient(async (place, client) => {
    writeFileSync(join(place.project, 'large.png'), await largePng())
    writeFileSync(join(place.project, 'large.pdf'), largePdf())
    const rows = []
    for (const [name, args] of [
      ['a 20 000 × 20 000 PNG', { file_path: 'large.png' }],
      ['a page of a 100 MB PDF', { file_path: 'large.pdf', pages: '50' }],
      ['… as an image', { file_path: 'large.pdf', pages: '50', images: true }],
    ]) {
      const runs = []
      for (let round = 0; round < 5; round += 1) runs.push(await watched(client, args))
      const refused = runs.filter(({ shown }) => !shown).length
      const label = `Read of ${name}${refused === 0 ? '' : `, refused ${refused} times of 5`}`
      rows.push(line(label, { ours: runs.map(({ ms }) => ms), limit: 5_000, bar: '≤ 5 s' }))
      rows.push(line('… processor time of its reader', { ours: runs.map(({ work }) => work), bar: '–' }))
      rows.push(line('… memory of its reader', { ours: runs.map(({ peak }) => peak), limit: 200, bar: '≤ 200 MiB', unit: 'MiB' }))
    }
    return rows
  })
