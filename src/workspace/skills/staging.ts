import { randomUUID } from 'node:crypto'
import { posix } from 'node:path'
import type { Layout } from '../layout.ts'
import type { HostFile } from './host-skills.ts'
import type { SkillStore } from './skill-store.ts'

/** Uploads at a time. */
const AT_ONCE = 8
/** What a host left behind that died in the middle goes after this. */
const STALE_MS = 3_600_000

/** A place where a skill is put together, on the file system that it will lie on. */
export class Staging {
  readonly #folder: string
  readonly #store: SkillStore

  constructor(store: SkillStore, layout: Layout) {
    this.#store = store
    this.#folder = posix.join(layout.own, 'staging')
  }

  /** Runs `task` with a path where nothing is; whatever it left there is removed afterwards, also when it throws. */
  async run<T>(task: (path: string) => Promise<T>): Promise<T> {
    await this.#sweep()
    const path = posix.join(this.#folder, randomUUID())
    try {
      return await task(path)
    } finally {
      await this.#store.remove(path)
    }
  }

  /** Uploads files of the host. */
  async upload(files: readonly HostFile[], to: string, signal?: AbortSignal): Promise<void> {
    const queue = [...files]
    const work = async (): Promise<void> => {
      for (let file = queue.shift(); file !== undefined; file = queue.shift())
        await this.#store.put(posix.join(to, file.path), file.open(), { mode: file.mode, signal })
    }
    const results = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #sweep(): Promise<void> {
    const old = (await this.#store.tree(this.#folder, { depth: 1 })) ?? []
    for (const { path, mtimeMs } of old)
      if (Date.now() - mtimeMs > STALE_MS) await this.#store.remove(posix.join(this.#folder, path))
  }
}
