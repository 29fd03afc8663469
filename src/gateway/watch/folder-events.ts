import { type FSWatcher, statSync, watch } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { errno } from '../files/fs-error.ts'
import { thingOf } from './mark.ts'

/** Folders that are watched at a time: the system's own limit is shared with everything else of the user. */
const MAX_FOLDERS = 512
/** File systems whose changes may be made elsewhere, where no event comes of them: NFS, SMB, CIFS, FUSE, 9p. */
const REMOTE = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997])

export interface FolderEventsOptions {
  maxFolders?: number
  /** Watches a folder; absent: Node's own. */
  watch?: typeof watch
}

/** Tells of events in one folder; `off` ends it, and with the last one the watching. */
export type FolderWatch = { off(): void } | { why: string }

interface Folder {
  watcher: FSWatcher
  /** Tells it from another that takes its path. */
  thing: string
  listeners: Set<() => void>
}

/** Watches folders, each once however many are interested in it. */
export class FolderEvents {
  readonly #max: number
  readonly #watch: typeof watch
  readonly #folders = new Map<string, Folder>()

  constructor({ maxFolders = MAX_FOLDERS, watch: make = watch }: FolderEventsOptions = {}) {
    this.#max = maxFolders
    this.#watch = make
  }

  /** Calls `heard` whenever something happens in a folder, or its watching fails; `why` says what is in the way. */
  async add(path: string, heard: () => void): Promise<FolderWatch> {
    try {
      const remote = await isRemote(path)
      if (remote) return { why: 'its file system does not tell of changes made elsewhere' }
      const folder = this.#current(path) ?? this.#open(path)
      if (folder === undefined) return { why: `${this.#max} folders are watched already` }
      folder.listeners.add(heard)
      return { off: () => this.#leave(path, folder, heard) }
    } catch (error) {
      return { why: reasonOf(error) }
    }
  }

  close(): void {
    for (const { watcher } of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  /** The watching of a path, unless another folder has come in its place: that one is watched anew. */
  #current(path: string): Folder | undefined {
    const folder = this.#folders.get(path)
    if (folder === undefined || folder.thing === thingAt(path)) return folder
    this.#end(path, folder)
    return undefined
  }

  #open(path: string): Folder | undefined {
    if (this.#folders.size >= this.#max) return undefined
    const listeners = new Set<() => void>()
    const hear = (): void => {
      for (const listener of [...listeners]) listener()
    }
    const watcher = this.#watch(path, { persistent: false }, hear)
    const folder = { watcher, thing: thingAt(path), listeners }
    watcher.on('error', () => {
      this.#end(path, folder)
      hear()
    })
    this.#folders.set(path, folder)
    return folder
  }

  #leave(path: string, folder: Folder, heard: () => void): void {
    folder.listeners.delete(heard)
    if (folder.listeners.size === 0) this.#end(path, folder)
  }

  #end(path: string, folder: Folder): void {
    folder.watcher.close()
    if (this.#folders.get(path) === folder) this.#folders.delete(path)
  }
}

const thingAt = (path: string): string => thingOf(statSync(path, { bigint: true }))

async function isRemote(path: string): Promise<boolean> {
  // An older Node can't tell.
  if (typeof statfs !== 'function') return false
  return REMOTE.has((await statfs(path)).type)
}

function reasonOf(error: unknown): string {
  const code = errno(error)
  if (code === 'ENOSPC') return "the system's limit of watched folders (fs.inotify.max_user_watches) is reached"
  if (code === 'EMFILE' || code === 'ENFILE') return "the system's limit of watchers (fs.inotify.max_user_instances) is reached"
  return `the system refuses to (${code ?? String(error)})`
}
