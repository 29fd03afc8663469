import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { makeFoldersSync } from '../../lib/make-folders.ts'

const FIRST = 32_768
/** As many are kept for later commands: file systems make new files slowly. */
const KEPT = 256
/** A file that grew beyond this is emptied, not overwritten. */
const LARGE = 262_144

/** A file into which one shell at a time leaves its state; open here, so that it can be read and cleared at once. */
export interface DumpFile {
  readonly path: string
  readonly fd: number
}

/** Private files for the state dumps of running commands, used again and again. */
export class DumpFiles {
  readonly #directory: string
  #free: DumpFile[] = []
  #made = 0
  #buffer = Buffer.alloc(FIRST)

  constructor(directory: string) {
    this.#directory = directory
  }

  take(): DumpFile {
    const free = this.#free.pop()
    if (free) return free
    const path = `${this.#directory}/d${process.pid}-${this.#made++}`
    return { path, fd: this.#create(path) }
  }

  /** What a shell wrote, as bytes, ends of older dumps behind it; cleared in the file at once, since it may hold exported secrets. */
  read(file: DumpFile): string {
    let length = 0
    for (;;) {
      const count = readSync(file.fd, this.#buffer, length, this.#buffer.length - length, length)
      length += count
      if (count === 0 || length < this.#buffer.length) break
      this.#buffer = Buffer.concat([this.#buffer], this.#buffer.length * 4)
    }
    const text = this.#buffer.toString('latin1', 0, length)
    this.#clear(file, length)
    return text
  }

  /** Gives a file back; `again: false` where its shell may still write or the file may be gone. */
  release(file: DumpFile, again: boolean): void {
    if (again && this.#free.length < KEPT) this.#free.push(file)
    else this.#drop(file)
  }

  dispose(): void {
    for (const file of this.#free) this.#drop(file)
    this.#free = []
  }

  // zeros in place are an order of magnitude cheaper for a file system than giving blocks back and asking for them again
  #clear(file: DumpFile, length: number): void {
    if (length > LARGE) {
      ftruncateSync(file.fd, 0)
      this.#buffer = Buffer.alloc(FIRST)
    } else if (length > 0) {
      this.#buffer.fill(0, 0, length)
      writeSync(file.fd, this.#buffer, 0, length, 0)
    }
  }

  #create(path: string): number {
    try {
      return openSync(path, 'w+', 0o600)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      makeFoldersSync(this.#directory, { mode: 0o700 })
      return openSync(path, 'w+', 0o600)
    }
  }

  #drop(file: DumpFile): void {
    closeSync(file.fd)
    try {
      unlinkSync(file.path)
    } catch {
      // gone already: a command may delete the directory
    }
  }
}
