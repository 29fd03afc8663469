import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { HostBytes } from './host-bytes.ts'
import { optionalPackage } from './optional-package.ts'
import { PdfFile, type WasmImports, type WasmMemory } from './pdf-file.ts'

/** What is used of PDFium's C interface; documents, pages, texts and bitmaps are pointers, 0 where there is none. */
export interface PdfLibrary {
  _FPDF_InitLibrary(): void
  _FPDF_LoadDocument(name: number, password: number): number
  _FPDF_GetLastError(): number
  _FPDF_GetPageCount(document: number): number
  _FPDF_LoadPage(document: number, index: number): number
  _FPDF_ClosePage(page: number): void
  _FPDF_GetPageWidthF(page: number): number
  _FPDF_GetPageHeightF(page: number): number
  _FPDFText_LoadPage(page: number): number
  _FPDFText_ClosePage(text: number): void
  _FPDFText_CountChars(text: number): number
  /** Writes UTF-16 and a NUL; gives what it wrote, in units. */
  _FPDFText_GetText(text: number, start: number, count: number, target: number): number
  _FPDFBitmap_CreateEx(width: number, height: number, format: number, pixels: number, stride: number): number
  _FPDFBitmap_FillRect(bitmap: number, left: number, top: number, width: number, height: number, colour: number): void
  _FPDFBitmap_Destroy(bitmap: number): void
  _FPDF_RenderPageBitmap(
    ...args: [bitmap: number, page: number, x: number, y: number, width: number, height: number, rotate: number, flags: number]
  ): void
  wasmExports: { malloc(bytes: number): number; free(at: number): void }
  HEAPU8: Uint8Array
}

interface WasmInstance {
  exports: { memory: WasmMemory }
}
/** As far as it is used here; Node has it, its types do not. */
interface Wasm {
  instantiate(program: Uint8Array, imports: WasmImports): Promise<{ instance: WasmInstance; module: object }>
}

const PACKAGE = '@hyzyla/pdfium'

/** PDFium, with `bytes` as the file `/document.pdf`. Throws a `Refusal` where the package is missing. */
export async function loadPdfium(bytes: HostBytes): Promise<{ library: PdfLibrary; name: string }> {
  const load = () => import('@hyzyla/pdfium')
  const { PDFiumModule } = await optionalPackage(PACKAGE, { what: 'Reading PDF files', load })
  const program = readFileSync(createRequire(import.meta.url).resolve(`${PACKAGE}/pdfium.wasm`))
  const file = new PdfFile('/document.pdf', bytes)
  const { WebAssembly } = globalThis as unknown as { WebAssembly: Wasm }
  const library = await new Promise<PdfLibrary>((resolve, reject) => {
    const instantiateWasm = (imports: WasmImports, done: (instance: WasmInstance, module: object) => void): object => {
      const made = WebAssembly.instantiate(program, file.calls(imports)).then(({ instance, module }) => {
        file.memory = instance.exports.memory
        done(instance, module)
      })
      // The package itself would wait for ever.
      made.catch(reject)
      return {}
    }
    PDFiumModule({ instantiateWasm } as never).then(loaded => resolve(loaded as unknown as PdfLibrary), reject)
  })
  library._FPDF_InitLibrary()
  return { library, name: file.name }
}
