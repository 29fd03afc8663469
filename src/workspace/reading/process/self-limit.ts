import { Worker } from 'node:worker_threads'
import { OUT_OF_MEMORY, OUT_OF_TIME } from './protocol.ts'

export interface SelfLimits {
  /** Resident memory. */
  maxBytes: number
  /** Processor time, in ms. */
  maxMs: number
}

const EVERY_MS = 5
/** Looks from beside work that holds the main thread, compiled code included. */
const BESIDE = `
const { workerData: { maxBytes, maxMs, parent } } = require('node:worker_threads')
setInterval(() => {
  const { user, system } = process.cpuUsage()
  if (process.memoryUsage.rss() > maxBytes || process.ppid !== parent) process.kill(process.pid, '${OUT_OF_MEMORY}')
  if (user + system > maxMs * 1000) process.kill(process.pid, '${OUT_OF_TIME}')
}, ${EVERY_MS})
`

/**
 * Ends this process at once when it takes more memory or processor time, or when its host is gone. `beside`: looks from a thread of its
 * own, which takes some memory too; else from this one, which must then be free while others work.
 */
export function limitSelf({ maxBytes, maxMs }: SelfLimits, { beside }: { beside: boolean }): void {
  const parent = process.ppid
  if (beside) {
    const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 }
    new Worker(BESIDE, { eval: true, workerData: { maxBytes, maxMs, parent }, resourceLimits }).unref()
    return
  }
  setInterval(() => {
    const { user, system } = process.cpuUsage()
    if (process.memoryUsage.rss() > maxBytes || process.ppid !== parent) process.kill(process.pid, OUT_OF_MEMORY)
    if (user + system > maxMs * 1000) process.kill(process.pid, OUT_OF_TIME)
  }, EVERY_MS).unref()
}
