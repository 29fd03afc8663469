import { countLineFeeds, cutAfter } from '../../lib/text.ts'
import { TextExcerpt } from '../../lib/text-excerpt.ts'
import { TextScreen } from '../../lib/text-screen.ts'
import type { Excerpt } from '../protocol-commands.ts'
import { LogWriter } from './log-writer.ts'
import { RawTail } from './raw-tail.ts'

/** Raw output beyond what is shown that may stay in memory before it goes to the log. */
const SLACK = 16_384
/** Once the middle of the text is left out, so much of its end is kept raw, and looked at when nothing more comes. */
const RAW_TAIL = 256 * 1024

export interface CommandOutputOptions {
  headBytes: number
  tailBytes: number
  logPath: string
  logMaxBytes: number
  /** Asks the reader to wait for the disk, and to go on. */
  pause: () => void
  resume: () => void
}

/** All that one command prints: counted, shown as head and tail, and kept raw in memory or, beyond a bound, in its log. */
export class CommandOutput {
  readonly #options: CommandOutputOptions
  readonly #excerpt: TextExcerpt
  readonly #screen: TextScreen
  #rest: RawTail | undefined
  #raw: Buffer[] = []
  #rawLength = 0
  #log: LogWriter | undefined
  #bytes = 0
  #lines = 0
  #lastByte = 10
  #paused = false

  constructor(options: CommandOutputOptions) {
    this.#options = options
    this.#excerpt = new TextExcerpt(options)
    this.#screen = new TextScreen(bytes => this.#excerpt.push(bytes))
  }

  /** Takes the next bytes, valid during the call only. */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length
    this.#lines += countLineFeeds(chunk)
    this.#lastByte = chunk[chunk.length - 1] ?? this.#lastByte
    this.#show(chunk)
    this.#keep(chunk)
  }

  /** Puts all raw output into the log, and ends it; gives how many bytes the log has. */
  async toLog(): Promise<number> {
    this.#spill()
    await this.#log?.close()
    return this.#log?.written ?? 0
  }

  /** Ends the log and forgets it: the caller removes the file. */
  async discard(): Promise<void> {
    await this.#log?.close()
    this.#log = undefined
  }

  get spilled(): boolean {
    return this.#log !== undefined
  }

  /** Ends the text; call it once, when no more is pushed. */
  end(): void {
    if (this.#rest) this.#showRest(this.#rest)
    this.#screen.end()
  }

  /** What is shown, and of how much. */
  result(): Excerpt {
    const lines = this.#lines + (this.#lastByte === 10 ? 0 : 1)
    return { ...this.#excerpt.result(), totalBytes: this.#bytes, totalLines: lines, ...this.#logFields() }
  }

  /** Why the log is not whole; nothing where it is. */
  logNotice(): string | undefined {
    const log = this.#log
    if (log?.truncatedAt === undefined) return undefined
    const why =
      log.fault === undefined ? 'its size limit or half of the free disk space was reached' : `writing failed: ${log.fault}`
    return `The log holds the first ${log.truncatedAt} bytes only (${why}).`
  }

  #logFields(): Pick<Excerpt, 'log' | 'logTruncatedAt'> {
    if (!this.#log || this.#log.written === 0) return {}
    const { path, truncatedAt } = this.#log
    return truncatedAt === undefined ? { log: path } : { log: path, logTruncatedAt: truncatedAt }
  }

  #show(chunk: Buffer): void {
    if (this.#rest) {
      this.#rest.push(chunk)
      return
    }
    this.#screen.push(chunk)
    if (this.#excerpt.overflowed) this.#rest = new RawTail(Math.max(RAW_TAIL, 8 * this.#options.tailBytes))
  }

  #showRest(rest: RawTail): void {
    const { bytes, dropped } = rest.take()
    this.#rest = undefined
    if (dropped === 0) {
      this.#screen.push(bytes)
      return
    }
    this.#screen.end()
    // from the start of a line, where there is one: no escape sequence or code point is cut there
    const start = bytes.indexOf(10) + 1 || cutAfter(bytes, 1)
    this.#excerpt.skip(dropped + start)
    this.#screen.push(bytes.subarray(start))
  }

  #keep(chunk: Buffer): void {
    if (this.#log?.truncatedAt !== undefined) return
    if (this.#log) {
      this.#toWriter(this.#log, chunk)
      return
    }
    const bytes = Buffer.from(chunk)
    this.#raw.push(bytes)
    this.#rawLength += bytes.length
    if (this.#rawLength > this.#options.headBytes + this.#options.tailBytes + SLACK) this.#spill()
    else if (this.#raw.length > 256) this.#raw = [Buffer.concat(this.#raw)]
  }

  #spill(): void {
    if (this.#log) return
    const { logPath, logMaxBytes } = this.#options
    this.#log = new LogWriter(logPath, { maxBytes: logMaxBytes, onDrain: () => this.#goOn() })
    this.#toWriter(this.#log, Buffer.concat(this.#raw))
    this.#raw = []
  }

  #toWriter(log: LogWriter, bytes: Buffer): void {
    if (log.write(bytes) || this.#paused) return
    this.#paused = true
    this.#options.pause()
  }

  #goOn(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#options.resume()
  }
}
