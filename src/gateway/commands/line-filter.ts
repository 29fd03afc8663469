import { Worker } from 'node:worker_threads'
import { WorkspaceError } from '../../lib/errors.ts'

/** One batch of lines may take this long, in ms, before the pattern is given up. */
const BATCH_MS = 3000

const WORKER = `
const { parentPort, workerData } = require('node:worker_threads')
const pattern = new RegExp(workerData.source, workerData.flags)
parentPort.on('message', lines => parentPort.postMessage(lines.filter(line => pattern.test(line))))
`

/** Lines that match a pattern, found where a pattern that never ends can be stopped. */
export interface LineFilter {
  /** The matching ones of these lines; `timeout` where the pattern takes too long. */
  select(lines: string[]): Promise<string[]>
  close(): Promise<void>
}

/** A filter for `pattern`, a JavaScript regular expression; `invalid_argument` where it is none. */
export function createLineFilter(pattern: string): LineFilter {
  const { source, flags } = compile(pattern)
  const worker = new Worker(WORKER, { eval: true, workerData: { source, flags } })
  worker.unref()
  return {
    select: lines => answerOf(worker, { lines, pattern }),
    close: async () => {
      await worker.terminate()
    },
  }
}

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    // patterns with needless escapes are valid without the u flag only
  }
  try {
    return new RegExp(pattern)
  } catch (error) {
    const why = String(error).split(': ').at(-1)?.toLowerCase()
    throw new WorkspaceError('invalid_argument', `The filter ${JSON.stringify(pattern)} is no regular expression: ${why}.`, {
      hint: 'Escape special characters with a backslash to match them literally.',
    })
  }
}

function answerOf(worker: Worker, batch: { lines: string[]; pattern: string }): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const tooLong = `The filter ${JSON.stringify(batch.pattern)} took longer than ${BATCH_MS} ms on ${batch.lines.length} lines.`
    const timer = setTimeout(
      () => settle(() => reject(new WorkspaceError('timeout', tooLong, { hint: 'Use a simpler pattern.' }))),
      BATCH_MS,
    )
    const onMessage = (lines: string[]) => settle(() => resolve(lines))
    const onError = (error: Error) => settle(() => reject(error))
    const settle = (then: () => void) => {
      clearTimeout(timer)
      worker.off('message', onMessage)
      worker.off('error', onError)
      then()
    }
    worker.on('message', onMessage)
    worker.on('error', onError)
    worker.postMessage(batch.lines)
  })
}
