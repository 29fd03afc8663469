import { READING_LIMITS } from '../reading-limits.ts'
import type { PdfPage, ShownImage } from '../view.ts'
import type { HostBytes } from './host-bytes.ts'
import { type OpenPage, PdfDocument } from './pdf-document.ts'
import type { Pixels } from './pixels.ts'
import { writePlainPng } from './plain-png.ts'
import type { PdfJob, ReaderMessage } from './protocol.ts'
import { encodeImage, loadSharp } from './read-image.ts'
import { Refusal } from './refusal.ts'

const { pagesUnasked, pagesAtOnce, pagesBytes } = READING_LIMITS

/** The asked pages, one after the other: what was read stays where a later one is too much. Throws a `Refusal`. */
export async function* readPdf(bytes: HostBytes, job: PdfJob): AsyncGenerator<ReaderMessage> {
  const encode = job.images ? await encoder(job) : undefined
  const document = await PdfDocument.open(bytes)
  const { first, last } = rangeOf(job, document.pageCount)
  yield { kind: 'pdf', pageCount: document.pageCount, first, last }
  const image = encode && ((page: OpenPage) => page.draw(job.maxEdge, encode))
  const taken = { chars: 0, bytes: 0, ms: 0, longestMs: 0 }
  for (let number = first; number <= last; number++) {
    const why = number === first ? undefined : whyStop(taken, job)
    if (why !== undefined) return yield { kind: 'stopped', why }
    const began = performance.now()
    const page = await readPage(document, number, { maxChars: job.maxChars - taken.chars, image })
    taken.chars = page.cut > 0 ? job.maxChars : taken.chars + page.text.length
    taken.bytes += page.image?.data.length ?? 0
    const ms = performance.now() - began
    taken.ms += ms
    taken.longestMs = Math.max(taken.longestMs, ms)
    yield { kind: 'page', page }
  }
}

/** Why the next page does not come into the same answer. */
function whyStop(
  taken: { chars: number; bytes: number; ms: number; longestMs: number },
  { maxChars, maxMs }: PdfJob,
): string | undefined {
  if (taken.chars >= maxChars) return `the pages before hold ${maxChars} characters`
  if (taken.bytes >= pagesBytes) return `the pages before take ${pagesBytes} bytes`
  if (taken.ms + taken.longestMs > maxMs) return 'the pages before took as long as one answer may'
  return undefined
}

/** Makes images of pages: with the library as small as they can be, else as plain PNG where that fits. */
async function encoder(job: PdfJob): Promise<(pixels: Pixels) => Promise<ShownImage>> {
  const sharp = await loadSharp().catch((refused: Refusal) => refused)
  if (!(sharp instanceof Refusal)) return pixels => encodeImage(sharp, pixels, job)
  return async pixels => {
    const image = writePlainPng(pixels)
    if (image.data.length <= job.maxBytes) return image
    throw new Refusal('too_large', `As PNG its image has ${image.data.length} bytes: the package "sharp" would make it smaller.`)
  }
}

async function readPage(
  document: PdfDocument,
  number: number,
  { maxChars, image }: { maxChars: number; image: ((page: OpenPage) => Promise<ShownImage>) | undefined },
): Promise<PdfPage> {
  try {
    const found = await document.page(number - 1, async page =>
      image === undefined ? page.text(maxChars) : { text: '', cut: 0, image: await image(page) },
    )
    return found === undefined ? unread(number, 'it is damaged') : { number, ...found }
  } catch (error) {
    if (error instanceof Refusal) return unread(number, error.message)
    throw error
  }
}

const unread = (number: number, why: string): PdfPage => ({ number, text: '', cut: 0, why })

function rangeOf({ first, last }: PdfJob, pageCount: number): { first: number; last: number } {
  const has = `The PDF has ${pageCount} ${pageCount === 1 ? 'page' : 'pages'}`
  if (pageCount === 0) throw new Refusal('unsupported', 'The PDF has no pages.')
  if (first === undefined) {
    if (pageCount <= pagesUnasked) return { first: 1, last: pageCount }
    throw new Refusal(
      'invalid_argument',
      `${has}: say which to read.`,
      `Set pages, e.g. "1-${pagesUnasked}"; at most ${pagesAtOnce} at once.`,
    )
  }
  const end = Math.min(last ?? pageCount, pageCount)
  if (first > pageCount)
    throw new Refusal('invalid_argument', `${has}; page ${first} was asked for.`, `Set pages within 1-${pageCount}.`)
  if (end - first + 1 > pagesAtOnce)
    throw new Refusal(
      'invalid_argument',
      `Pages ${first}-${end} are ${end - first + 1} pages; at most ${pagesAtOnce} are read at once.`,
      `Set pages, e.g. "${first}-${first + pagesAtOnce - 1}".`,
    )
  return { first, last: end }
}
