import { type FileHandle, open, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolders } from '../../lib/make-folders.ts'

const BATCH = 1024 * 1024
const HIGH = 6 * BATCH
const LOW = 2 * BATCH
/** At most this share of the free space goes into one log. */
const FREE_SHARE = 0.5

interface Batch {
  bytes: Buffer
  length: number
}

export interface LogWriterOptions {
  maxBytes: number
  /** Called when a writer that `write` had asked to wait may go on. */
  onDrain: () => void
}

/** Appends to a log in large steps behind the event loop's back; a full disk or the cap ends the log, never the command. */
export class LogWriter {
  readonly path: string
  readonly #options: LogWriterOptions
  #queue: Batch[] = []
  /** Batches that were written, to be filled again: allocating them anew would cost more than filling them. */
  #free: Buffer[] = []
  #queued = 0
  #accepted = 0
  #written = 0
  #cap: number
  #file: FileHandle | undefined
  #pumping: Promise<void> | undefined
  #waiting = false
  #fault: string | undefined
  #truncatedAt: number | undefined

  constructor(path: string, options: LogWriterOptions) {
    this.path = path
    this.#options = options
    this.#cap = options.maxBytes
  }

  get written(): number {
    return this.#written
  }
  /** Where the log stops although the output went on. */
  get truncatedAt(): number | undefined {
    return this.#truncatedAt
  }
  /** Why it stopped, where it was not the cap. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** Takes bytes, valid during the call only; false asks the caller to wait for `onDrain`. */
  write(bytes: Buffer): boolean {
    if (this.#truncatedAt !== undefined || bytes.length === 0) return true
    const room = this.#cap - this.#accepted
    const part = bytes.length > room ? bytes.subarray(0, Math.max(0, room)) : bytes
    this.#accepted += part.length
    this.#queued += part.length
    this.#append(part)
    if (part.length < bytes.length) this.#truncatedAt = this.#accepted
    this.#pumping ??= this.#pump()
    this.#waiting = this.#queued > HIGH
    return !this.#waiting
  }

  /** Writes what is queued and closes the file. */
  async close(): Promise<void> {
    while (this.#pumping) await this.#pumping
    await this.#file?.close().catch(() => {})
    this.#file = undefined
  }

  async #pump(): Promise<void> {
    try {
      this.#file ??= await this.#open()
      while (this.#queue.length > 0) await this.#writeBatch(this.#file)
    } catch (error) {
      this.#fault = (error as NodeJS.ErrnoException).code ?? String(error)
      this.#truncatedAt = this.#written
      this.#queue = []
      this.#queued = 0
    } finally {
      if (this.#truncatedAt !== undefined && this.#queue.length === 0) this.#free = []
      this.#pumping = undefined
      this.#wake()
    }
  }

  #append(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      let last = this.#queue.at(-1)
      if (last === undefined || last.length === BATCH) {
        last = { bytes: this.#free.pop() ?? Buffer.allocUnsafeSlow(BATCH), length: 0 }
        this.#queue.push(last)
      }
      const copied = bytes.copy(last.bytes, last.length, at)
      last.length += copied
      at += copied
    }
  }

  async #writeBatch(file: FileHandle): Promise<void> {
    const { bytes, length } = this.#queue.shift() as Batch
    // a short write: the disk is nearly full, and the next one will say so
    for (let at = 0; at < length; ) {
      const { bytesWritten } = await file.write(bytes, at, length - at)
      at += bytesWritten
      this.#written += bytesWritten
      this.#queued -= bytesWritten
    }
    this.#free.push(bytes)
    if (this.#queued < LOW) this.#wake()
  }

  #wake(): void {
    if (!this.#waiting) return
    this.#waiting = false
    this.#options.onDrain()
  }

  async #open(): Promise<FileHandle> {
    const directory = dirname(this.path)
    await makeFolders(directory, { mode: 0o700 })
    const disk = await statfs(directory)
    const share = Math.floor(disk.bavail * disk.bsize * FREE_SHARE)
    if (share < this.#cap) this.#cap = Math.max(this.#accepted, share)
    return open(this.path, 'a', 0o600)
  }
}
