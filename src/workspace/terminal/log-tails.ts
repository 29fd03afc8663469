import type { JobInfo } from '../../gateway/protocol.ts'
import type { GatewayCalls } from '../environment-link.ts'
import type { PortOptions } from '../ports.ts'

/** So much of a log's end is read: a program that draws has drawn all of its screen within it. */
const MAX_TAIL = 4 * 1024 * 1024
/** Where a cut log begins, an escape sequence may be cut: it is begun at the next line or sequence, within so many bytes. */
const ALIGN = 4096
const RANGE = 1024 * 1024
/** Tails of so many running jobs are kept, so that only what is new is fetched. */
const KEPT = 2

interface Tail {
  bytes: Buffer
  /** Where `bytes` begin in the log. */
  offset: number
}

/** Ends of the logs of terminals, fetched through the gateway. */
export class LogTails {
  readonly #gateway: GatewayCalls
  readonly #kept = new Map<string, Tail>()

  constructor(gateway: GatewayCalls) {
    this.#gateway = gateway
  }

  /** The last bytes of a job's log; all of it where it is not long, else from the start of a line or sequence. */
  async read(job: JobInfo, options: PortOptions): Promise<Tail> {
    const offset = Math.max(0, job.bytes - MAX_TAIL)
    const bytes = await this.#bytesFrom(offset, job, options)
    this.#keep(job, { bytes, offset })
    const cut = offset === 0 ? 0 : firstBoundary(bytes)
    return { bytes: bytes.subarray(cut), offset: offset + cut }
  }

  async #bytesFrom(offset: number, job: JobInfo, options: PortOptions): Promise<Buffer> {
    const kept = this.#kept.get(job.id)
    const end = kept ? kept.offset + kept.bytes.length : 0
    if (!kept || end < offset || end > job.bytes) return this.#fetch(job.log, { start: offset, end: job.bytes }, options)
    const more = await this.#fetch(job.log, { start: end, end: job.bytes }, options)
    return Buffer.concat([kept.bytes.subarray(offset - kept.offset), more])
  }

  async #fetch(path: string, { start, end }: { start: number; end: number }, options: PortOptions): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let at = start; at < end; ) {
      const range = { path, offset: at, length: Math.min(RANGE, end - at) }
      const part = Buffer.from((await this.#gateway.call('file.bytes', range, options)).data, 'base64').subarray(0, range.length)
      if (part.length === 0) break
      parts.push(part)
      at += part.length
    }
    return Buffer.concat(parts)
  }

  #keep(job: JobInfo, tail: Tail): void {
    this.#kept.delete(job.id)
    if (job.status === 'running') this.#kept.set(job.id, tail)
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest)
  }
}

function firstBoundary(bytes: Buffer): number {
  const found = bytes.subarray(0, ALIGN).findIndex(byte => byte === 0x0a || byte === 0x1b)
  return Math.max(0, found)
}
