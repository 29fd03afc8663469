import { appendFileSync, renameSync, statSync } from 'node:fs'
import type { Logger } from '../lib/log.ts'

const MAX_BYTES = 1024 * 1024

/** A logger into `path`, one JSON line an entry; beyond 1 MiB the file starts anew and the old one is kept as `.1`. */
export function createGatewayLog(path: string): Logger {
  let size = -1
  const write = (level: string, fields: object, msg: string): void => {
    const line = `${JSON.stringify({ time: new Date().toISOString(), level, pid: process.pid, ...fields, msg })}\n`
    try {
      if (size < 0) size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (size + line.length > MAX_BYTES) {
        renameSync(path, `${path}.1`)
        size = 0
      }
      appendFileSync(path, line, { mode: 0o600 })
      size += line.length
    } catch {
      // A full or vanished disk costs the log, never the work.
      size = -1
    }
  }
  const bound = (base: object): Logger => ({
    debug() {},
    info: (fields, message) => write('info', { ...base, ...fields }, message),
    warn: (fields, message) => write('warn', { ...base, ...fields }, message),
    error: (fields, message) => write('error', { ...base, ...fields }, message),
    child: fields => bound({ ...base, ...fields }),
  })
  return bound({})
}
