import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { ReadParams, ReadResult, ReadText } from '../protocol.ts'
import { asUtf8, type ByteSource, byteSource } from './byte-source.ts'
import { type Detected, detect, wholeCodePoints } from './encoding.ts'
import { LineCollector, type LineRange } from './line-collector.ts'
import type { Location } from './locate.ts'
import { openRegular } from './open-regular.ts'
import { fingerprintOfStat, HASH_LIMIT, type ReadState } from './read-state.ts'
import { startOfLastLines } from './tail.ts'

const HEAD = 64 * 1024
const BINARY_HEAD = 512
/** Up to this size the whole file is looked at (hash, lines, endings), beyond it no more than was asked for. */
const SURVEY_LIMIT = HASH_LIMIT
/** A line of a larger file that has not ended by then is shown as it is. */
const ENDLESS_LINE = 256 * 1024 * 1024

type TextForm = Extract<Detected, { kind: 'text' }> & { separator: 'lf' | 'cr' }

/** Reads a range of lines, or the head of a binary file, and remembers for the session what content it saw. */
export async function readFile(
  location: Location,
  params: ReadParams,
  { state, signal }: { state: ReadState; signal?: AbortSignal },
): Promise<ReadResult> {
  const file = await openRegular(location)
  try {
    const source = await byteSource(file, signal)
    const surveyed = source.size <= SURVEY_LIMIT
    const head = await source.read(0, HEAD)
    let form = detect(head, source.size <= head.length)
    let fingerprint = fingerprintOfStat(file.stat)
    if (surveyed) {
      const survey = await lookThrough(source)
      fingerprint = survey.fingerprint
      if (form.kind === 'text' && form.encoding === 'utf-8' && !survey.utf8) form = { ...form, encoding: 'latin1' }
    }
    const result: ReadResult =
      form.kind === 'binary'
        ? {
            kind: 'binary',
            path: location.path,
            size: source.size,
            head: head.subarray(0, BINARY_HEAD).toString('base64'),
            ...(form.mediaType === undefined ? {} : { mediaType: form.mediaType }),
          }
        : await readText(source, { ...form, separator: await separatorOf(source, head, form) }, { location, params, surveyed })
    state.remember(params.session, location.real, fingerprint)
    return result
  } finally {
    await file.handle.close()
  }
}

interface TextJob {
  location: Location
  params: ReadParams
  /** Count on to the end of the file. */
  surveyed: boolean
}

async function readText(source: ByteSource, form: TextForm, job: TextJob): Promise<ReadText> {
  const start = await startOf(source, form, job)
  const range = rangeOf(job.params, start.first, form)
  const collector = new LineCollector(range)
  for await (const chunk of textChunks(source, form, start.position)) {
    collector.push(chunk)
    if (!job.surveyed && (collector.more || collector.lineBytes > ENDLESS_LINE)) break
  }
  // The rest of a file whose line does not end is not looked through for its end.
  const endless = collector.lineBytes > ENDLESS_LINE
  collector.finish()
  const ended = job.surveyed || !(collector.more || endless)
  const known = start.firstLine > 0 && ended
  const { lines } = collector
  const single = form.encoding === 'latin1' || (form.encoding === 'utf-8' && !lines.every(line => isUtf8(line)))
  return {
    kind: 'text',
    path: job.location.path,
    lines: lines.map(line => line.toString(single ? 'latin1' : 'utf8')),
    firstLine: start.firstLine,
    ...(known ? { totalLines: start.skipped + collector.count } : {}),
    more: collector.more || endless,
    size: source.size,
    encoding: single ? 'latin1' : form.encoding,
    bom: form.bomBytes > 0,
    eol: eolOf(collector, form),
    cutLines: collector.cutLines.map(line => line - range.first + start.firstLine),
    byteLimited: collector.byteLimited,
  }
}

interface Start {
  /** Byte offset where collecting begins. */
  position: number
  /** Lines before that offset. */
  skipped: number
  /** Number, counted from that offset, of the first line to keep. */
  first: number
  /** Its number in the file; negative, counted from the end, where that would take reading the whole file. */
  firstLine: number
}

async function startOf(source: ByteSource, form: TextForm, { params, surveyed }: TextJob): Promise<Start> {
  const offset = params.offset ?? 1
  const bom = form.bomBytes
  if (offset >= 0) return { position: bom, skipped: 0, first: Math.max(1, offset), firstLine: Math.max(1, offset) }
  const wide = form.encoding.startsWith('utf-16')
  if (surveyed || wide) {
    const total = await countLines(source, form)
    const first = Math.max(1, total + offset + 1)
    return { position: bom, skipped: 0, first, firstLine: first }
  }
  const tail = await startOfLastLines(source, -offset, { from: bom, separator: form.separator === 'cr' ? 13 : 10 })
  return { position: tail.position, skipped: 0, first: 1, firstLine: tail.position <= bom ? 1 : -tail.lines }
}

function rangeOf(params: ReadParams, first: number, form: TextForm): LineRange {
  const { maxBytes, maxLineBytes } = params
  return { first, limit: Math.max(0, params.limit), maxBytes, maxLineBytes, separator: form.separator }
}

function textChunks(source: ByteSource, form: TextForm, position: number): AsyncIterable<Buffer> {
  const chunks = source.chunks(position)
  return form.encoding.startsWith('utf-16') ? asUtf8(chunks, form.encoding) : chunks
}

async function countLines(source: ByteSource, form: TextForm): Promise<number> {
  const counter = new LineCollector({ first: 1, limit: 0, maxBytes: 0, maxLineBytes: 0, separator: form.separator })
  for await (const chunk of textChunks(source, form, form.bomBytes)) counter.push(chunk)
  counter.finish()
  return counter.count
}

/** Hash and validity of the whole file, in one pass. */
async function lookThrough(source: ByteSource): Promise<{ fingerprint: string; utf8: boolean }> {
  const hash = createHash('sha256')
  let utf8 = true
  let rest = Buffer.alloc(0)
  for await (const chunk of source.chunks(0)) {
    hash.update(chunk)
    if (!utf8) continue
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    const whole = wholeCodePoints(bytes)
    utf8 = isUtf8(bytes.subarray(0, whole))
    rest = Buffer.from(bytes.subarray(whole))
  }
  return { fingerprint: `sha256:${hash.digest('hex')}`, utf8: utf8 && rest.length === 0 }
}

/** Lone carriage returns end lines only in a file that has no line feed at all. */
async function separatorOf(source: ByteSource, head: Buffer, form: Detected): Promise<'lf' | 'cr'> {
  if (form.kind === 'binary' || form.encoding.startsWith('utf-16') || !head.includes(13) || head.includes(10)) return 'lf'
  for await (const chunk of source.chunks(head.length)) if (chunk.includes(10)) return 'lf'
  return 'cr'
}

function eolOf({ terminated, crlf }: LineCollector, form: TextForm): ReadText['eol'] {
  if (form.separator === 'cr') return 'cr'
  if (terminated === 0) return 'none'
  return crlf === 0 ? 'lf' : crlf === terminated ? 'crlf' : 'mixed'
}
