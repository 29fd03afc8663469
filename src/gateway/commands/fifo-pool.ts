import { execFile, spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, renameSync, unlinkSync } from 'node:fs'
import { WorkspaceError } from '../../lib/errors.ts'
import { makeFoldersSync } from '../../lib/make-folders.ts'

const LOW = 16
const SMALL = 32
const LARGE = 64
const KEPT = 256
/** Looked through for `mkfifo`, whatever the environment of this process is. */
const TOOLS = { env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin' } }

/** The three ends of an output pipe, as descriptors that the taker owns. */
export interface OutputPipe {
  /** Non-blocking, for this process. */
  read: number
  /** Blocking, for a forwarder that may take over. */
  handover: number
  /** For the child; to be closed here once it runs. */
  write: number
  /** To be called when the taker has closed its ends: `unused` where nobody else can have the pipe open any more. */
  giveBack(unused: boolean): void
}

/** The two ends of an input pipe. */
export interface InputPipe {
  read: number
  /** Non-blocking. */
  write: number
}

/** Named pipes made ahead of need: unlike Node's own pipes (sockets), a child can open them again as /dev/stdout. */
export class FifoPool {
  readonly #directory: string
  #ready: string[] = []
  /** Of pipes that are in use and may come back. */
  readonly #lent = new Set<string>()
  /** One pipe that is open already: the next command starts sooner. */
  #prepared: OutputPipe | undefined
  #preparing = false
  #made = 0
  #refilling = false
  #disposed = false

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Begins to fill the pool. */
  warm(): void {
    if (this.#refilling || this.#disposed || this.#ready.length > LOW) return
    this.#refilling = true
    const paths = this.#names(this.#made === 0 ? SMALL : LARGE)
    execFile('mkfifo', ['-m', '600', ...paths], TOOLS, error => {
      this.#refilling = false
      if (error) return
      if (this.#disposed) for (const path of paths) remove(path)
      else this.#ready.push(...paths)
    })
  }

  output(): OutputPipe {
    const prepared = this.#prepared
    this.#prepared = undefined
    this.#prepareSoon()
    return prepared ?? this.#openOutput()
  }

  /** Opens one more pipe while the command that took the last one runs. */
  #prepareSoon(): void {
    if (this.#preparing) return
    this.#preparing = true
    setImmediate(() => {
      this.#preparing = false
      // never waits for pipes to be made
      if (this.#disposed || this.#prepared !== undefined || this.#ready.length === 0) return
      try {
        this.#prepared = this.#openOutput()
      } catch {
        // the next command meets the same fault, and tells it
      }
    })
  }

  #openOutput(): OutputPipe {
    return this.#open(path => {
      const opened = openAll([
        [path, constants.O_RDONLY | constants.O_NONBLOCK],
        [path, constants.O_WRONLY],
        // while a writer is open, a blocking open for reading returns at once
        [path, constants.O_RDONLY],
      ])
      const giveBack = (unused: boolean) => this.#takeBack(path, unused)
      return { read: opened[0] as number, write: opened[1] as number, handover: opened[2] as number, giveBack }
    }, true)
  }

  input(): InputPipe {
    return this.#open(path => {
      const opened = openAll([
        [path, constants.O_RDONLY | constants.O_NONBLOCK],
        [path, constants.O_WRONLY | constants.O_NONBLOCK],
        [path, constants.O_RDONLY],
      ])
      closeSync(opened[0] as number)
      return { read: opened[2] as number, write: opened[1] as number }
    })
  }

  /** Makes a named pipe at `path`, which stays. */
  keep(path: string): void {
    renameSync(this.#take(), path)
  }

  dispose(): void {
    this.#disposed = true
    for (const path of [...this.#ready, ...this.#lent]) remove(path)
    this.#ready = []
    this.#lent.clear()
    if (this.#prepared !== undefined) for (const end of ['read', 'write', 'handover'] as const) closeSync(this.#prepared[end])
    this.#prepared = undefined
  }

  #open<T>(open: (path: string) => T, again = false): T {
    let path = this.#take()
    let opened = false
    try {
      const result = openOr(path, open, () => {
        // the directory was emptied behind our back
        this.#ready = []
        path = this.#take()
        return path
      })
      opened = true
      return result
    } finally {
      if (opened && again) this.#lent.add(path)
      else remove(path)
    }
  }

  /** A pipe that nobody has open is as good as a new one, and file systems make new ones slowly. */
  #takeBack(path: string, unused: boolean): void {
    if (!this.#lent.delete(path)) return
    if (unused && !this.#disposed && this.#ready.length < KEPT && !hasReader(path)) this.#ready.push(path)
    else remove(path)
  }

  #take(): string {
    if (this.#ready.length === 0) this.#refillNow()
    const path = this.#ready.pop() as string
    if (this.#ready.length <= LOW) this.warm()
    return path
  }

  #refillNow(): void {
    const paths = this.#names(this.#made === 0 ? SMALL : LARGE)
    makeFoldersSync(this.#directory, { mode: 0o700 })
    const made = spawnSync('mkfifo', ['-m', '600', ...paths], { ...TOOLS, encoding: 'utf8' })
    if (made.status !== 0) {
      const why = made.error?.message ?? made.stderr.trim()
      throw new WorkspaceError('unavailable', `No named pipes could be made in ${this.#directory}: ${why}`, {
        hint: 'Commands need the program mkfifo (coreutils or busybox) and a writable runtime directory.',
      })
    }
    this.#ready.push(...paths)
  }

  #names(count: number): string[] {
    return Array.from({ length: count }, () => `${this.#directory}/p${process.pid}-${this.#made++}`)
  }
}

function openOr<T>(path: string, open: (path: string) => T, missing: () => string): T {
  try {
    return open(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return open(missing())
  }
}

/** Whether a process kept an end to read from; writers there are none, or the end would not have been seen. */
function hasReader(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENXIO'
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // a pipe that is gone already serves as well
  }
}

/** Opens in order, or nothing at all. */
function openAll(files: [path: string, flags: number][]): number[] {
  const opened: number[] = []
  try {
    for (const [path, flags] of files) opened.push(openSync(path, flags))
    return opened
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    throw error
  }
}
