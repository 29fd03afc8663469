import type { ReadBinary, ReadResult } from '../../gateway/protocol.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { WorkspaceLimits } from '../limits.ts'
import type { Files, PortOptions } from '../ports.ts'
import { fileBytes } from './byte-source.ts'
import { editNotebook } from './edit-notebook.ts'
import { type FileKind, kindOfFile } from './kind-of-file.ts'
import { parsePages } from './parse-pages.ts'
import type { Viewer, ViewParams } from './port.ts'
import type { ReaderJob } from './process/protocol.ts'
import { runFileReader } from './reader-process.ts'
import { READING_LIMITS } from './reading-limits.ts'
import { Turns } from './turns.ts'
import type { FileView } from './view.ts'
import { type Reading, viewArchive, viewAudio, viewImage, viewNotebook, viewPdf } from './views.ts'

export interface ViewerOptions {
  limits: Pick<WorkspaceLimits, 'offloadMediaBytes' | 'readMaxBytes'>
  /** Path of the reader program; absent: the built one. */
  script?: string | undefined
}

const NOTEBOOK = /\.ipynb$/i
/** Faults of a file, told in place of its content; all others, as wrong arguments, are errors. */
const UNREADABLE = new Set(['too_large', 'unsupported'])

/** Looks at files through `files`, a limited number at once. */
export function createViewer(files: Files, options: ViewerOptions): Viewer {
  const turns = new Turns(READING_LIMITS.readers)
  const reading = ({ path, size }: { path: string; size: number }, { signal }: PortOptions): Reading => ({
    size,
    limits: options.limits,
    bytes: length => files.bytes(path, { offset: 0, length }, { signal }).then(({ data }) => data),
    async *read(job: ReaderJob) {
      const leave = await turns.take(signal)
      try {
        yield* runFileReader(job, {
          source: fileBytes(files, { path, size }, { signal }),
          signal,
          script: options.script,
        })
      } finally {
        leave()
      }
    },
  })
  return {
    async view(params, port = {}) {
      const notebook = NOTEBOOK.test(params.path)
      const found = await files.read(requestOf(params, notebook), port)
      if (params.pages !== undefined || params.images === true) expectPdf(found)
      if (found.kind === 'binary') return viewBinary(found, params, reading(found, port))
      if (!notebook || found.size === 0) return { kind: 'text', result: found }
      const view = await viewNotebook(found, reading(found, port), params).catch(error => whyNot(error, port))
      if (typeof view !== 'string') return view
      const text = await files.read(requestOf(params, false), port)
      return text.kind === 'text' ? { kind: 'text', result: text, remark: view } : viewBinary(text, params, reading(text, port))
    },
    editNotebook: (params, port = {}) => editNotebook(files, params, { ...port, reading: file => reading(file, port) }),
  }
}

function requestOf({ path, session, offset, limit }: ViewParams, notebook: boolean) {
  // Of a notebook nothing but what it is: offset and limit are of its cells.
  if (notebook) return { path, session, limit: 1 }
  return { path, session, ...(offset && { offset }), ...(limit !== undefined && { limit }) }
}

async function viewBinary(file: ReadBinary, params: ViewParams, reading: Reading): Promise<FileView> {
  const head = Buffer.from(file.head, 'base64')
  const { kind, mediaType = file.mediaType } = kindOfFile(head)
  const about = { path: file.path, size: file.size, mediaType }
  try {
    return await viewOf(kind, { about, params, reading, head })
  } catch (thrown) {
    const { code, message, hint } = toWorkspaceError(thrown)
    if (!UNREADABLE.has(code)) throw thrown
    return { kind: 'opaque', ...about, head, why: message, hint }
  }
}

interface Viewing {
  about: { path: string; size: number; mediaType: string | undefined }
  params: ViewParams
  reading: Reading
  head: Uint8Array
}

function viewOf(kind: FileKind, { about, params, reading, head }: Viewing): Promise<FileView> {
  switch (kind) {
    case 'image':
      return viewImage(about, reading)
    case 'pdf':
      return viewPdf(about, reading, {
        ...(params.pages === undefined ? {} : parsePages(params.pages)),
        images: params.images === true,
      })
    case 'zip':
    case 'tar':
    case 'gzip':
      return viewArchive(about, reading, kind)
    case 'audio':
      return viewAudio(about, reading)
    case 'other':
      return Promise.resolve({ kind: 'opaque', ...about, head })
  }
}

function expectPdf(file: ReadResult): void {
  if (file.kind === 'binary' && kindOfFile(Buffer.from(file.head, 'base64')).kind === 'pdf') return
  throw new WorkspaceError('invalid_argument', `"pages" and "images" are for PDF files only: ${file.path} is none.`, {
    hint: file.kind === 'text' ? 'Use offset and limit.' : 'Leave them out.',
  })
}

function whyNot(error: unknown, { signal }: PortOptions): string {
  signal?.throwIfAborted()
  const { code, message } = toWorkspaceError(error)
  if (!UNREADABLE.has(code)) throw error
  return `shown as plain text, not as a notebook: ${message}`
}
