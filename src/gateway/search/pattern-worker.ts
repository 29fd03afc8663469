import { Worker } from 'node:worker_threads'
import { type PatternSetup, patternThread } from './pattern-thread.ts'

/** A thread that runs a pattern given by a user, where it can be ended however long the pattern takes. */
export class PatternWorker {
  readonly #worker: Worker
  #failed: Error | undefined

  constructor(setup: PatternSetup) {
    // The thread's source travels as text, so that it works from a bundle, and from source files too.
    const code = `(${patternThread.toString()})(require('node:worker_threads'), require('node:fs'), require('node:buffer'))`
    this.#worker = new Worker(code, { eval: true, workerData: setup, env: {}, stdin: false })
    this.#worker.unref()
    this.#worker.on('error', error => {
      this.#failed = error
    })
  }

  /** The answer to one question; undefined when it did not come in time, or before an abort. Rejects when the thread broke. */
  ask<T>(question: object, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const worker = this.#worker
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        worker.off('message', answer)
        worker.off('exit', exit)
      }
      const answer = (value: T): void => {
        done()
        resolve(value)
      }
      const exit = (): void => {
        done()
        reject(this.#failed ?? new Error('The pattern thread ended.'))
      }
      const giveUp = (): void => {
        done()
        resolve(undefined)
      }
      const timer = setTimeout(giveUp, timeoutMs)
      signal.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) giveUp()
      worker.on('message', answer)
      worker.on('exit', exit)
      worker.postMessage(question)
    })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}
