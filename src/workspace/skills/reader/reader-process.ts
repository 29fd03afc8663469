import { type ChildProcess, fork } from 'node:child_process'
import { WorkspaceError } from '../../../lib/errors.ts'
import { builtProgram, endChild } from '../../program-child.ts'
import type { ReaderJob, ReaderMessage } from './reader-protocol.ts'

export interface ReaderOptions {
  /** Path of the reader program; absent: the built one. */
  script?: string | undefined
  signal?: AbortSignal | undefined
}

/** A reader that says nothing for this long is ended. */
const SILENCE_MS = 20_000
const HEAP_MB = 128
const NAME = 'reader.mjs'

/**
 * The messages of one reader; after a piece of data it is asked to go on. It is a process: some texts are fatal to the whole of V8,
 * not to a thread. Leaving the loop ends it.
 */
export async function* runReader(job: ReaderJob, options: ReaderOptions): AsyncGenerator<ReaderMessage, undefined> {
  const child = fork(builtProgram({ name: NAME, what: 'reader program' }, options.script), [], {
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const said = new Said(child, options.signal)
  try {
    child.send(job, error => said.over(error))
    for (;;) {
      const message = await said.next()
      if (message === undefined) return undefined
      if (message.kind === 'refused') throw new WorkspaceError(message.code, message.message, { hint: message.hint })
      yield message
      if (message.kind === 'data') child.send('next', error => said.over(error))
    }
  } finally {
    said.stop()
    await endChild(child)
  }
}

/** What a reader said, in order; its death, its silence and the caller's abort are errors. */
class Said {
  readonly #messages: ReaderMessage[] = []
  readonly #stopListening: () => void
  #failure: Error | undefined
  #ended = false
  #wake = (): void => {}

  constructor(child: ChildProcess, signal: AbortSignal | undefined) {
    const abort = (): void => this.#fail(new WorkspaceError('cancelled', 'Reading was cancelled.'))
    signal?.addEventListener('abort', abort)
    this.#stopListening = () => signal?.removeEventListener('abort', abort)
    child.on('message', (message: ReaderMessage) => {
      this.#messages.push(message)
      this.#wake()
    })
    child.on('error', error =>
      this.#fail(new WorkspaceError('internal', `The reader failed: ${error.message}`, { cause: error })),
    )
    child.on('exit', (code, by) => {
      this.#ended = true
      if (code !== 0) this.#fail(tooMuch(by === null ? `memory (it ended with ${code})` : `memory (it ended by ${by})`))
      this.#wake()
    })
    if (signal?.aborted) abort()
  }

  /** The next message; `undefined` when the reader has ended well. */
  async next(): Promise<ReaderMessage | undefined> {
    if (this.#messages.length === 0 && this.#failure === undefined && !this.#ended) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>(resolve => {
        this.#wake = resolve
        timer = setTimeout(() => this.#fail(tooMuch('time')), SILENCE_MS)
      })
      clearTimeout(timer)
    }
    const message = this.#messages.shift()
    if (message === undefined && this.#failure !== undefined) throw this.#failure
    return message
  }

  /** Takes the outcome of a send; one that fails because the reader is gone is told by its end. */
  over(error: Error | null): void {
    if (
      error !== null &&
      (error as NodeJS.ErrnoException).code !== 'ERR_IPC_CHANNEL_CLOSED' &&
      !/EPIPE|ECONNRESET/.test(error.message)
    )
      this.#fail(new WorkspaceError('internal', `The reader could not be reached: ${error.message}`, { cause: error }))
  }

  stop(): void {
    this.#stopListening()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#wake()
  }
}

const tooMuch = (of: string): WorkspaceError => new WorkspaceError('too_large', `What was given takes too much ${of} to read.`)
