import { WorkspaceError } from '../lib/errors.ts'

/** What may be sent of one call's stream before its reader took anything, in bytes. */
export const STREAM_CREDIT = 128 * 1024
/** What a reader that keeps pace with its sender opens bit by bit. */
export const MAX_STREAM_CREDIT = 512 * 1024

/** The sender's side of one call's stream: how much its reader still takes. */
export class Credit {
  #left = STREAM_CREDIT
  #failure: (() => WorkspaceError) | undefined
  #waiting: (() => void)[] = []

  get left(): number {
    return this.#failure === undefined ? this.#left : 0
  }

  take(bytes: number): void {
    this.#left -= bytes
  }

  /** More than a bound is never open: a reader can't make the sender queue without end. */
  grant(bytes: number): void {
    this.#left = Math.min(this.#left + bytes, MAX_STREAM_CREDIT)
    if (this.#left > 0) this.#wake()
  }

  /** Nobody reads any more: waiting and later senders get an error, which is made only where there is one of them. */
  fail(failure: () => WorkspaceError): void {
    this.#failure ??= failure
    this.#wake()
  }

  /** Resolves as soon as something may be sent. */
  async ready(): Promise<void> {
    while (this.#failure === undefined && this.#left <= 0) await new Promise<void>(resolve => this.#waiting.push(resolve))
    if (this.#failure !== undefined) throw this.#failure()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

/** Sends `chunk` by `write` in parts as `credit` allows, and resolves when the next one may come. */
export async function sendWithCredit(credit: Credit, chunk: Uint8Array, write: (part: Uint8Array) => void): Promise<void> {
  for (let at = 0; at < chunk.length; ) {
    await credit.ready()
    const part = chunk.subarray(at, at + credit.left)
    credit.take(part.length)
    at += part.length
    write(part)
  }
  await credit.ready()
}

/**
 * The reader's side of one call's stream. Holds at most the credit that it gave; gives more as chunks are taken, and doubles it for
 * a reader that has nothing left to take.
 */
export class Inbox implements AsyncIterable<Uint8Array> {
  readonly #grant: (bytes: number) => void
  #chunks: Uint8Array[] = []
  #size = STREAM_CREDIT
  #open = STREAM_CREDIT
  #owed = 0
  #ended = false
  #dropping = false
  #error: WorkspaceError | undefined
  #wake: (() => void) | undefined

  /** `grant` tells the sender that it may send so many bytes more. */
  constructor(grant: (bytes: number) => void) {
    this.#grant = grant
  }

  /** Throws `protocol` when the sender goes beyond its credit. */
  push(chunk: Uint8Array) {
    this.#open -= chunk.length
    if (this.#open < 0) throw new WorkspaceError('protocol', 'The peer sent more of a stream than it was granted')
    if (this.#dropping) return this.#give(chunk.length)
    this.#chunks.push(chunk)
    this.#wake?.()
  }

  end(error?: WorkspaceError): void {
    this.#ended = true
    this.#error ??= error
    this.#wake?.()
  }

  /** Reads on and throws away: nobody wants the rest. */
  drop(): void {
    this.#dropping = true
    for (const chunk of this.#chunks.splice(0)) this.#give(chunk.length)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) {
          yield chunk
          this.#give(chunk.length)
        } else if (this.#error !== undefined) throw this.#error
        else if (this.#ended) return
        else await new Promise<void>(resolve => (this.#wake = resolve))
      }
    } finally {
      this.drop()
    }
  }

  #give(bytes: number): void {
    this.#owed += bytes
    if (this.#owed < this.#size / 2 || this.#ended) return
    if (this.#chunks.length === 0 && this.#size < MAX_STREAM_CREDIT) {
      this.#owed += this.#size
      this.#size *= 2
    }
    this.#open += this.#owed
    this.#grant(this.#owed)
    this.#owed = 0
  }
}
