import type { FileView, ImageView, OpaqueView, PdfView, ShownImage, TextView } from '../workspace/reading/view.ts'
import { compose } from './compose.ts'
import { mediaName } from './media-name.ts'
import { archiveText } from './read-archive-text.ts'
import { notebookText } from './read-notebook-text.ts'
import type { ExtraContent, ToolAnswer } from './tool.ts'
import { count, formatBytes } from './units.ts'

type Answer = Pick<ToolAnswer, 'text' | 'content'>

/** A view of a file that is no text, as an answer: what it is and how it is shown, then its images or sound. */
export function viewAnswer(view: Exclude<FileView, TextView>, offset?: number): Answer {
  switch (view.kind) {
    case 'image':
      return { text: imageText(view), content: [imageContent(view.image)] }
    case 'pdf':
      return {
        text: pdfText(view),
        content: view.pages.flatMap(({ image }) => (image === undefined ? [] : [imageContent(image)])),
      }
    case 'notebook': {
      const outputs = view.cells.flatMap(cell => cell.outputs)
      return {
        text: notebookText(view, offset),
        content: outputs.flatMap(({ image }) => (image === undefined ? [] : [imageContent(image)])),
      }
    }
    case 'archive':
      return { text: archiveText(view) }
    case 'audio':
      return {
        text: compose(`${view.path} is ${mediaName(view.mediaType)}: ${formatBytes(view.size)}.`, [
          view.told === undefined ? undefined : `it is cut: by its header it has ${formatBytes(view.told)}`,
        ]),
        content: [{ type: 'audio', data: base64(view.data), mimeType: view.mediaType }],
      }
    case 'opaque':
      return { text: opaqueText(view) }
  }
}

const base64 = (data: Uint8Array): string => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')

function imageContent({ data, mediaType }: ShownImage): ExtraContent {
  return { type: 'image', data: base64(data), mimeType: mediaType }
}

function imageText({ path, mediaType, size, width, height, frames, image }: ImageView): string {
  const what = `${path} is ${mediaName(mediaType)}: ${width} × ${height} pixels, ${formatBytes(size)}.`
  const scaled = image.width !== width || image.height !== height
  return compose(what, [
    frames > 1 ? `the first of ${frames} frames is shown` : undefined,
    scaled
      ? `shown as ${image.width} × ${image.height} pixels: multiply coordinates by ${Number((width / image.width).toPrecision(4))} for those of the file`
      : undefined,
  ])
}

function pdfText({ path, size, pageCount, last, pages, stopped }: PdfView): string {
  const head = `${path} is a PDF: ${count(pageCount, 'page')}, ${formatBytes(size)}.`
  const shown = pages.map(({ number, text, cut, image, why }) => {
    const body = why !== undefined ? `[not shown: ${why}]` : image !== undefined ? '[see its image]' : text.trim()
    return compose(`--- page ${number} of ${pageCount} ---\n${body === '' ? '[no text: see it with images: true]' : body}`, [
      cut > 0 ? `${cut} more characters of this page are left out; extract its text with Bash, e.g. pdftotext` : undefined,
    ])
  })
  const next = (pages.at(-1)?.number ?? 0) + 1
  const stop = stopped === undefined ? '' : `stopped before page ${next}: ${stopped.replace(/\.$/, '')}; `
  const until = stopped === undefined ? Math.min(pageCount, next + pages.length - 1) : last
  const readOn = `${stop}read on with pages "${until > next ? `${next}-${until}` : next}"`
  return compose([head, ...shown].join('\n\n'), [next > pageCount ? undefined : readOn])
}

/** What a file is that has no reader, or why its own failed, and what to do instead. */
function opaqueText({ path, size, mediaType, head, why, hint }: OpaqueView): string {
  if (why !== undefined) {
    const what = `${path} is ${mediaName(mediaType)} (${formatBytes(size)}): not shown. ${why}`
    return hint === undefined ? what : `${what}\n${hint}`
  }
  return `${path} is a binary file (${mediaType ?? 'unknown type'}, ${formatBytes(size)}): not shown as text. It begins:\n${hexRows(head)}\n${binaryHint(mediaType)}`
}

const ROW = 16
const ROWS = 8

function hexRows(head: Uint8Array): string {
  const rows: string[] = []
  for (let at = 0; at < Math.min(head.length, ROW * ROWS); at += ROW) {
    const bytes = [...head.subarray(at, at + ROW)]
    const hex = bytes.map(byte => byte.toString(16).padStart(2, '0')).join(' ')
    const ascii = bytes.map(byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
    rows.push(`${at.toString(16).padStart(8, '0')}  ${hex.padEnd(3 * ROW - 1)}  ${ascii}`)
  }
  return rows.join('\n')
}

function binaryHint(mediaType = ''): string {
  if (/rar|7z|bzip2|xz|zstd|archive/.test(mediaType))
    return 'List or expand it with Bash, e.g. tar -tf, 7z l, xz -dc or zstd -dc.'
  if (mediaType.startsWith('video/')) return 'Take pictures out of it with Bash, e.g. ffmpeg -ss 5 -frames:v 1, and read those.'
  if (mediaType.includes('sqlite')) return 'Query it with Bash, e.g. sqlite3 or Python.'
  return 'Inspect it with Bash, e.g. file, strings or xxd.'
}
