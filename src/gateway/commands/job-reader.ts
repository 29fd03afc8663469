import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { countLineFeeds, unfinishedTail } from '../../lib/text.ts'
import { TextExcerpt } from '../../lib/text-excerpt.ts'
import { TextScreen } from '../../lib/text-screen.ts'
import type { Excerpt, JobReadParams, JobReadResult } from '../protocol-commands.ts'
import type { Job } from './job.ts'
import type { JobTable } from './job-table.ts'
import { createLineFilter, type LineFilter } from './line-filter.ts'
import { settleScreen } from './pty-terminal.ts'

const CHUNK = 256 * 1024
const POLL_MS = 40

/** Reads job logs: what is new for a session since its last look, or from an offset. */
export class JobReader {
  readonly #jobs: JobTable
  readonly #logMaxBytes: number
  /** Offset of the next unread byte, by session and job. */
  readonly #positions = new Map<string, Map<string, number>>()

  constructor(jobs: JobTable, logMaxBytes: number) {
    this.#jobs = jobs
    this.#logMaxBytes = logMaxBytes
  }

  async read(params: JobReadParams, signal: AbortSignal): Promise<JobReadResult> {
    const job = this.#jobs.get(params.id)
    const filter = params.filter === undefined ? undefined : createLineFilter(params.filter)
    try {
      const shown = job.record.input === 'pty' && params.offset === undefined && !filter
      const from = params.offset ?? this.#positions.get(params.session)?.get(job.id) ?? 0
      const { output, nextOffset, notices } = await this.#lookUntil(job, { ...params, from, filter, signal, screen: shown })
      if (params.offset === undefined) this.#remember(params.session, job.id, nextOffset)
      const info = await job.info()
      if (info.bytes >= this.#logMaxBytes) output.logTruncatedAt = info.bytes
      return { job: info, output, nextOffset, notices }
    } finally {
      await filter?.close()
    }
  }

  /** Waits for something to show: with a filter for a line that matches, or the end. */
  async #lookUntil(
    job: Job,
    wanted: Omit<Span, 'wasRunning' | 'log'> & Pick<JobReadParams, 'waitMs'> & { signal: AbortSignal; screen: boolean },
  ): Promise<Pick<JobReadResult, 'output' | 'nextOffset' | 'notices'>> {
    const until = performance.now() + (wanted.waitMs ?? 0)
    let { from } = wanted
    for (let beyond = from; ; ) {
      await this.#waitFor(job, { beyond, until, signal: wanted.signal })
      if (wanted.screen) await settleScreen(job, this.#jobs.folders.log(job.id), wanted.signal)
      beyond = (await job.info()).bytes
      const found = await this.#look(job, { ...wanted, from })
      const shown = found.output.head !== '' || found.output.tail !== ''
      if (!wanted.filter || shown || !job.running || performance.now() >= until) return found
      from = found.nextOffset
    }
  }

  /** Reads again when the job ended meanwhile: what is told as the end has all of the output. */
  async #look(
    job: Job,
    span: Omit<Span, 'wasRunning' | 'log'>,
  ): Promise<Pick<JobReadResult, 'output' | 'nextOffset' | 'notices'>> {
    await job.settle()
    const wasRunning = job.running
    const found = await readSpan({ ...span, wasRunning, log: this.#jobs.folders.log(job.id) })
    const notices = await this.#notices(job)
    return wasRunning && !job.running ? this.#look(job, span) : { ...found, notices }
  }

  /** The session has seen the first bytes of a job's log already: its next look begins after them. */
  startAfter(session: string, id: string, bytes: number): void {
    this.#remember(session, id, bytes)
  }

  /** Waits until a terminal's log is longer than `beyond`, and its screen stands still. */
  async waitForScreen(job: Job, options: { beyond: number; waitMs: number; signal: AbortSignal }): Promise<void> {
    await this.#waitFor(job, { ...options, until: performance.now() + options.waitMs })
    await settleScreen(job, this.#jobs.folders.log(job.id), options.signal)
  }

  forgetSession(session: string): void {
    this.#positions.delete(session)
  }

  async #waitFor(job: Job, options: { beyond: number; until: number; signal: AbortSignal }): Promise<void> {
    while (job.running && performance.now() < options.until) {
      options.signal.throwIfAborted()
      if ((await job.info()).bytes > options.beyond) return
      await Promise.race([sleep(POLL_MS), job.ended])
    }
  }

  #remember(session: string, id: string, offset: number): void {
    const positions = this.#positions.get(session) ?? new Map<string, number>()
    positions.set(id, offset)
    this.#positions.set(session, positions)
  }

  async #notices(job: Job): Promise<string[]> {
    if (!job.running || job.record.kind !== 'command') return []
    const { exitCode, signal } = job.record
    if (exitCode === undefined && signal === undefined) return []
    const how = exitCode === undefined ? `by ${signal}` : `with exit code ${exitCode}`
    const pids = await job.pids()
    if (pids.length === 0) await job.settle()
    if (!job.running) return []
    const what =
      pids.length > 0 ? `processes that it started still run: ${pids.join(', ')}` : 'something still holds its output open'
    return [`The command itself ended ${how}; ${what}.`]
  }
}

interface Span extends Pick<JobReadParams, 'headBytes' | 'tailBytes'> {
  from: number
  filter: LineFilter | undefined
  /** Then the last code point, and with a filter the last line, may be unfinished: they are left for the next read. */
  wasRunning: boolean
  log: string
}

async function readSpan(span: Span): Promise<{ output: Excerpt; nextOffset: number }> {
  const excerpt = new TextExcerpt(span)
  const sink = span.filter ? new FilteredLines(excerpt, span.filter) : undefined
  const screen = new TextScreen(bytes => (sink ? sink.push(bytes) : excerpt.push(bytes)))
  const counts = { bytes: 0, lines: 0, last: 10 }
  const file = await open(span.log, 'r').catch(() => undefined)
  try {
    for await (const chunk of file ? chunksOf(file, span) : []) {
      screen.push(chunk)
      counts.bytes += chunk.length
      counts.lines += countLineFeeds(chunk)
      counts.last = chunk[chunk.length - 1] as number
      await sink?.flush(false)
    }
    screen.end()
    await sink?.flush(true)
  } finally {
    await file?.close()
  }
  const totalLines = counts.lines + (counts.last === 10 ? 0 : 1)
  const output = { ...excerpt.result(), totalBytes: counts.bytes, totalLines, log: span.log }
  return { output, nextOffset: span.from + counts.bytes }
}

async function* chunksOf(file: FileHandle, span: Span): AsyncGenerator<Buffer> {
  const end = (await file.stat()).size
  let at = span.from
  while (at < end) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, end - at))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0) return
    at += bytesRead
    const chunk = buffer.subarray(0, bytesRead)
    yield at >= end && span.wasRunning ? withoutUnfinished(chunk, span.filter !== undefined) : chunk
  }
}

function withoutUnfinished(chunk: Buffer, wholeLines: boolean): Buffer {
  const line = chunk.lastIndexOf(10) + 1
  // a line longer than a chunk is given as it is: waiting for its end could take forever
  if (wholeLines && (line > 0 || chunk.length < CHUNK)) return chunk.subarray(0, line)
  return chunk.subarray(0, chunk.length - unfinishedTail(chunk))
}

/** Collects shown text to whole lines and passes on those that match. */
class FilteredLines {
  readonly #excerpt: TextExcerpt
  readonly #filter: LineFilter
  #pending: Buffer[] = []

  constructor(excerpt: TextExcerpt, filter: LineFilter) {
    this.#excerpt = excerpt
    this.#filter = filter
  }

  push(bytes: Buffer): void {
    this.#pending.push(Buffer.from(bytes))
  }

  async flush(all: boolean): Promise<void> {
    const bytes = Buffer.concat(this.#pending)
    const end = all ? bytes.length : bytes.lastIndexOf(10) + 1
    this.#pending = end < bytes.length ? [bytes.subarray(end)] : []
    if (end === 0) return
    const lines = bytes.toString('utf8', 0, end).split('\n')
    if (lines.at(-1) === '') lines.pop()
    for (const line of await this.#filter.select(lines)) this.#excerpt.push(Buffer.from(`${line}\n`))
  }
}
