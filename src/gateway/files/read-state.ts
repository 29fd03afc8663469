import { createHash } from 'node:crypto'
import type { FileStat } from './open-regular.ts'

const MAX_ENTRIES = 10_000
/** Up to this size content is compared by hash, beyond it by device, inode, size and times. */
export const HASH_LIMIT = 16 * 1024 * 1024

/** What tells one content of a file from another. */
export type Fingerprint = string

export function fingerprintOf(content: Uint8Array): Fingerprint {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

export function fingerprintOfStat(stat: FileStat): Fingerprint {
  return `stat:${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`
}

/** What each session last saw or wrote of each file; the least recently used entries go first. */
export class ReadState {
  readonly #seen = new Map<string, Fingerprint>()

  remember(session: string, real: string, fingerprint: Fingerprint): void {
    const key = keyOf(session, real)
    this.#seen.delete(key)
    this.#seen.set(key, fingerprint)
    if (this.#seen.size <= MAX_ENTRIES) return
    const oldest = this.#seen.keys().next()
    if (oldest.done !== true) this.#seen.delete(oldest.value)
  }

  seen(session: string, real: string): Fingerprint | undefined {
    return this.#seen.get(keyOf(session, real))
  }

  forgetFile(session: string, real: string): void {
    this.#seen.delete(keyOf(session, real))
  }

  forgetSession(session: string): void {
    const prefix = keyOf(session, '')
    for (const key of this.#seen.keys()) if (key.startsWith(prefix)) this.#seen.delete(key)
  }

  clear(): void {
    this.#seen.clear()
  }
}

function keyOf(session: string, real: string): string {
  return `${session.length}:${session}\0${real}`
}
