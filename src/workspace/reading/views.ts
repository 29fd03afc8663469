import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { WorkspaceLimits } from '../limits.ts'
import type { ReaderJob, ReaderMessage } from './process/protocol.ts'
import { READING_LIMITS } from './reading-limits.ts'
import { shownImage } from './shown-image.ts'
import { soundExtent } from './sound-extent.ts'
import type { About, ArchiveView, AudioView, ImageView, NotebookView, PdfView } from './view.ts'

const { imageEdge, pageEdge, imageFileBytes, notebookBytes, partImageBytes, archiveEntries } = READING_LIMITS

/** How the parts of one file are read. */
export interface Reading {
  readonly size: number
  limits: Pick<WorkspaceLimits, 'offloadMediaBytes' | 'readMaxBytes'>
  /** The first bytes of the file. */
  bytes(length: number): Promise<Uint8Array>
  /** What a reader of the file says. */
  read(job: ReaderJob): AsyncGenerator<Exclude<ReaderMessage, { kind: 'refused' }>, void>
}

/** Bytes whose base64 stays in an answer. */
export function mediaBytes({ limits }: Pick<Reading, 'limits'>): number {
  return Math.floor(limits.offloadMediaBytes / 4) * 3
}

/** An image, within the limits. */
export async function viewImage(about: About, reading: Reading): Promise<ImageView> {
  expectAtMost(about, imageFileBytes, 'Scale it down with Bash, e.g. with ImageMagick or Python.')
  const job = { kind: 'image', size: about.size, maxEdge: imageEdge, maxBytes: mediaBytes(reading) } as const
  for await (const message of reading.read(job))
    if (message.kind === 'image') return { ...about, ...message, image: shownImage(message.image, job) }
  throw endedEarly()
}

export interface PageRange {
  first?: number | undefined
  last?: number | undefined
  images: boolean
}

/** Pages of a PDF, as text or as images; those that were read stay where the next is too much. */
export async function viewPdf(about: About, reading: Reading, range: PageRange): Promise<PdfView> {
  const bounds = { maxEdge: pageEdge, maxBytes: Math.min(partImageBytes, mediaBytes(reading)) }
  const most = { maxChars: reading.limits.readMaxBytes, maxMs: READING_LIMITS.pagesMs }
  const job = { kind: 'pdf', size: about.size, ...range, ...bounds, ...most } as const
  let view: PdfView | undefined
  let next = 1
  try {
    for await (const message of reading.read(job)) {
      if (message.kind === 'pdf') {
        next = message.first
        view = { ...about, kind: 'pdf', pageCount: message.pageCount, last: message.last, pages: [] }
      } else if (message.kind === 'stopped' && view !== undefined) view.stopped = message.why
      else if (message.kind === 'page') {
        const { image, ...page } = message.page
        view?.pages.push({ ...page, ...(image && { image: shownImage(image, bounds) }) })
        next = page.number + 1
      }
    }
  } catch (thrown) {
    const { code, message } = toWorkspaceError(thrown)
    if (code !== 'too_large' || view === undefined) throw thrown
    // Alone it may be readable.
    if (view.pages.length > 0) view.stopped = `together with the pages before ${message.replace(/^It /, 'it ')}`
    else view.pages.push({ number: next, text: '', cut: 0, why: message })
  }
  if (view === undefined) throw endedEarly()
  return view
}

/** Cells of a notebook with their outputs. */
export async function viewNotebook(
  { path, size }: About,
  reading: Reading,
  { offset = 1, limit = Number.MAX_SAFE_INTEGER }: { offset?: number | undefined; limit?: number | undefined },
): Promise<NotebookView> {
  expectAtMost({ path, size }, notebookBytes, 'Read its JSON in parts with Bash.')
  const bounds = { maxEdge: pageEdge, maxBytes: Math.min(partImageBytes, mediaBytes(reading)) }
  const job = { kind: 'notebook', size, offset, limit, ...bounds, maxChars: reading.limits.readMaxBytes } as const
  for await (const message of reading.read(job)) {
    if (message.kind !== 'notebook') continue
    for (const { outputs } of message.cells)
      for (const output of outputs) if (output.image !== undefined) output.image = shownImage(output.image, bounds)
    return { path, size, ...message }
  }
  throw endedEarly()
}

/** What an archive holds. */
export async function viewArchive(about: About, reading: Reading, format: 'zip' | 'tar' | 'gzip'): Promise<ArchiveView> {
  const job = { kind: 'archive', size: about.size, format, maxEntries: archiveEntries } as const
  for await (const message of reading.read(job)) if (message.kind === 'archive') return { ...about, ...message }
  throw endedEarly()
}

/** A sound, as it is, and whether it is cut. */
export async function viewAudio(about: About, reading: Reading): Promise<AudioView> {
  expectAtMost(about, mediaBytes(reading), 'Cut out a part with Bash, e.g. with ffmpeg -ss 0 -t 60.')
  const data = Buffer.from(await reading.bytes(about.size))
  const { start, end = 0 } = soundExtent(data)
  if (start >= data.length)
    throw new WorkspaceError('unsupported', 'It holds no sound: it ends with its header.', {
      hint: 'It is cut, or was never written: get it again.',
    })
  const mediaType = about.mediaType ?? 'application/octet-stream'
  return { ...about, kind: 'audio', mediaType, data, ...(end > data.length && { told: end }) }
}

function expectAtMost({ size }: About, most: number, hint: string): void {
  if (size > most)
    throw new WorkspaceError('too_large', `It has ${size} bytes; at most ${most} of such a file are read.`, { hint })
}

const endedEarly = (): WorkspaceError => new WorkspaceError('internal', 'The reader of files ended without an answer.')
