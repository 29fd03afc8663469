import type { HostBytes } from './host-bytes.ts'
import { loadPdfium, type PdfLibrary } from './pdf-library.ts'
import type { Pixels } from './pixels.ts'
import { Refusal } from './refusal.ts'

const BGRA = 4
const DRAW_ANNOTATIONS = 0x01
const AS_RGBA = 0x10
const WHITE = 0xffffffff
const CHANNELS = 4
const PASSWORD_NEEDED = 4
const UNKNOWN_ENCRYPTION = 5

/** An open PDF. */
export class PdfDocument {
  readonly pageCount: number
  readonly #library: PdfLibrary
  readonly #document: number

  private constructor(library: PdfLibrary, document: number) {
    this.#library = library
    this.#document = document
    this.pageCount = library._FPDF_GetPageCount(document)
  }

  /** Throws a `Refusal` for what is no PDF, damaged or encrypted. */
  static async open(bytes: HostBytes): Promise<PdfDocument> {
    const { library, name } = await loadPdfium(bytes)
    const encoded = Buffer.from(`${name}\0`)
    const at = allocate(library, encoded.length)
    library.HEAPU8.set(encoded, at)
    const document = library._FPDF_LoadDocument(at, 0)
    if (document === 0) throw refusal(library._FPDF_GetLastError())
    return new PdfDocument(library, document)
  }

  /** Gives a page, by its index from 0, to `use`; `undefined` where it can't be read. */
  async page<T>(index: number, use: (page: OpenPage) => T | Promise<T>): Promise<T | undefined> {
    const page = this.#library._FPDF_LoadPage(this.#document, index)
    if (page === 0) return undefined
    try {
      return await use(new OpenPage(this.#library, page))
    } finally {
      this.#library._FPDF_ClosePage(page)
    }
  }
}

/** A page while it is open. */
export class OpenPage {
  readonly #library: PdfLibrary
  readonly #page: number

  constructor(library: PdfLibrary, page: number) {
    this.#library = library
    this.#page = page
  }

  /** At most `maxChars` of its text, and how many there are more. */
  text(maxChars: number): { text: string; cut: number } {
    const library = this.#library
    const loaded = library._FPDFText_LoadPage(this.#page)
    if (loaded === 0) return { text: '', cut: 0 }
    try {
      const all = Math.max(0, library._FPDFText_CountChars(loaded))
      const count = Math.min(all, maxChars)
      if (count === 0) return { text: '', cut: all }
      const target = allocate(library, 2 * (count + 1))
      const units = Math.max(0, library._FPDFText_GetText(loaded, 0, count, target) - 1)
      const text = Buffer.from(library.HEAPU8.buffer, target, 2 * units).toString('utf16le')
      library.wasmExports.free(target)
      return { text: plain(text), cut: all - count }
    } finally {
      library._FPDFText_ClosePage(loaded)
    }
  }

  /** The page on white, its longer edge `edge` pixels long; valid until the page is closed. */
  draw<T>(edge: number, use: (pixels: Pixels) => Promise<T>): Promise<T> {
    const library = this.#library
    const [across, up] = [library._FPDF_GetPageWidthF(this.#page), library._FPDF_GetPageHeightF(this.#page)]
    const scale = edge / Math.max(across, up)
    if (!(scale > 0 && Number.isFinite(scale))) throw new Refusal('unsupported', 'The page has no size.')
    const [width, height] = [Math.max(1, Math.round(across * scale)), Math.max(1, Math.round(up * scale))]
    const bytes = width * height * CHANNELS
    const pixels = allocate(library, bytes)
    const bitmap = library._FPDFBitmap_CreateEx(width, height, BGRA, pixels, width * CHANNELS)
    library._FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE)
    library._FPDF_RenderPageBitmap(bitmap, this.#page, 0, 0, width, height, 0, DRAW_ANNOTATIONS | AS_RGBA)
    const data = Buffer.from(library.HEAPU8.slice(pixels, pixels + bytes).buffer)
    library._FPDFBitmap_Destroy(bitmap)
    library.wasmExports.free(pixels)
    return use({ data, width, height, channels: CHANNELS })
  }
}

function allocate(library: PdfLibrary, bytes: number): number {
  const at = library.wasmExports.malloc(bytes)
  if (at === 0) throw new Refusal('too_large', 'The PDF takes too much memory to read.')
  return at
}

/** One kind of line end, hyphens at it as such, and no other control character. */
function plain(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0002\ufffe]/g, '-')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f\uffff]/g, '')
    .replace(/\p{Cs}/gu, '\ufffd')
}

function refusal(error: number): Refusal {
  if (error === PASSWORD_NEEDED)
    return new Refusal(
      'unsupported',
      'The PDF is encrypted and needs a password.',
      'Decrypt it with Bash, e.g. qpdf --password=… --decrypt IN OUT, then read that.',
    )
  if (error === UNKNOWN_ENCRYPTION) return new Refusal('unsupported', 'The PDF is encrypted in a way that is not known here.')
  return new Refusal(
    'unsupported',
    'The PDF is damaged, or none.',
    'Try to repair it with Bash, e.g. qpdf IN OUT, or get it again.',
  )
}
