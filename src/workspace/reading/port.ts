import type { PortOptions } from '../ports.ts'
import type { FileView } from './view.ts'

export interface ViewParams {
  path: string
  /** Whose read-state remembers the file. */
  session: string
  /** First line of a text, first cell of a notebook; negative counts from the end. */
  offset?: number | undefined
  limit?: number | undefined
  /** Pages of a PDF: `3`, `1-5` or `7-`. */
  pages?: string | undefined
  /** Pages of a PDF as images. */
  images?: boolean | undefined
}

export interface NotebookEditParams {
  path: string
  session: string
  oldString: string
  newString: string
  replaceAll: boolean
}

export interface NotebookEditResult {
  path: string
  replacements: number
  /** Cells whose source was changed, from 1, as they are now; none where the file was edited as plain text. */
  cells: { number: number; id?: string | undefined; source: string }[]
  notices: string[]
}

/** Looks at files of any kind, each format read in a process of its own that is limited in time and memory. */
export interface Viewer {
  view(params: ViewParams, options?: PortOptions): Promise<FileView>
  /** Replaces text in the source of cells, or in the file's JSON; the file stays valid and keeps its form. */
  editNotebook(params: NotebookEditParams, options?: PortOptions): Promise<NotebookEditResult>
}
