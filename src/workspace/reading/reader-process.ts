import { type ChildProcess, fork } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { onAbort } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import { builtProgram, endChild } from '../program-child.ts'
import type { ByteSource } from './byte-source.ts'
import { BYTES_FD, OUT_OF_TIME, type ReaderJob, type ReaderMessage } from './process/protocol.ts'
import { READING_LIMITS } from './reading-limits.ts'
import { serveBytes } from './serve-bytes.ts'
import { WorkClock } from './work-clock.ts'

export interface ReadingOptions {
  source: ByteSource
  /** Path of the reader program; absent: the built one. */
  script?: string | undefined
  signal?: AbortSignal | undefined
}

type Said = Exclude<ReaderMessage, { kind: 'refused' }>

const NAME = 'file-reader.mjs'
const HEAP_MB = 160

/**
 * The messages of a process that reads one file. It ends itself when it takes too much time or memory, and is ended when the loop is left,
 * or when it says nothing for long. What it refuses, and its end before its time, are errors.
 */
export async function* runFileReader(job: ReaderJob, options: ReadingOptions): AsyncGenerator<Said, undefined> {
  const child = fork(builtProgram({ name: NAME, what: 'reader program' }, options.script), [], {
    execArgv: [`--max-old-space-size=${HEAP_MB}`, '--max-semi-space-size=2'],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'ipc'],
  })
  const messages = new Messages(child, options)
  try {
    child.send(job, error => messages.sent(error))
    for (;;) {
      const message = await messages.next()
      if (message === undefined) return undefined
      if (message.kind === 'refused') throw new WorkspaceError(message.code, message.message, { hint: message.hint })
      yield message
    }
  } finally {
    messages.stop()
    await endChild(child)
  }
}

/** What a reader said, in order; its death, a lost source, too much work and the caller's abort are errors. */
class Messages {
  readonly #messages: ReaderMessage[] = []
  readonly #clock: WorkClock
  readonly #channel: Duplex
  readonly #stopListening: () => void
  #failure: Error | undefined
  #ended = false
  #wake = (): void => {}

  constructor(child: ChildProcess, { source, signal }: ReadingOptions) {
    this.#stopListening = onAbort(signal, () => this.#fail(new WorkspaceError('cancelled', 'Reading was cancelled.')))
    this.#clock = new WorkClock(READING_LIMITS.answerMs, () => this.#fail(tooMuch('time')))
    child.on('message', (message: ReaderMessage) => {
      this.#messages.push(message)
      this.#wake()
    })
    child.on('error', error =>
      this.#fail(new WorkspaceError('internal', `The reader failed: ${error.message}`, { cause: error })),
    )
    child.on('exit', (code, signal) => {
      this.#ended = true
      if (code !== 0) this.#fail(tooMuch(signal === OUT_OF_TIME ? 'time' : 'memory'))
      this.#wake()
    })
    this.#channel = child.stdio[BYTES_FD] as Duplex
    this.#clock.run()
    serveBytes(this.#channel, source, this.#clock).catch(error => {
      // A channel that breaks because the reader is gone is told by its end.
      if (!isBroken(error)) this.#fail(toWorkspaceError(error))
    })
    if (signal?.aborted) this.#fail(new WorkspaceError('cancelled', 'Reading was cancelled.'))
  }

  /** The next message; `undefined` when the reader has ended well. */
  async next(): Promise<ReaderMessage | undefined> {
    if (this.#messages.length === 0 && this.#failure === undefined && !this.#ended)
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    const message = this.#messages.shift()
    if (message === undefined && this.#failure !== undefined) throw this.#failure
    return message
  }

  /** Takes the outcome of a send; one that fails because the reader is gone is told by its end. */
  sent(error: Error | null): void {
    if (error !== null && !isBroken(error))
      this.#fail(new WorkspaceError('internal', `The reader could not be reached: ${error.message}`, { cause: error }))
  }

  stop(): void {
    this.#stopListening()
    this.#clock.pause()
    this.#channel.destroy()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#wake()
  }
}

const BROKEN = new Set(['ERR_IPC_CHANNEL_CLOSED', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'EPIPE', 'ECONNRESET'])

function isBroken(error: unknown): boolean {
  return BROKEN.has((error as NodeJS.ErrnoException).code ?? '')
}

const tooMuch = (of: 'time' | 'memory'): WorkspaceError =>
  new WorkspaceError('too_large', `It takes too much ${of} to read.`, {
    hint: 'Look at it, or at a part of it, with a program in Bash.',
  })
