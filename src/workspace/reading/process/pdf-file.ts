import type { HostBytes } from './host-bytes.ts'

export type WasmImports = Record<string, Record<string, unknown>>
export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

const DESCRIPTOR = 100
const NO_SUCH_FILE = -44
const STAT_BYTES = 96
const MODE_AT = 4
const SIZE_AT = 24
const READ_ONLY_FILE = 0o100444

/**
 * The one file that a WebAssembly program sees, as the system calls of its C library: it is read where the program reads it, and
 * there is no other.
 */
export class PdfFile {
  readonly name: string
  readonly #bytes: HostBytes
  #memory: WasmMemory | undefined
  #position = 0

  constructor(name: string, bytes: HostBytes) {
    this.name = name
    this.#bytes = bytes
  }

  /** The program's memory, known once it has been loaded. */
  set memory(memory: WasmMemory) {
    this.#memory = memory
  }

  /** The program's imports with the calls that concern files replaced. */
  calls(imports: WasmImports): WasmImports {
    return {
      ...imports,
      env: {
        ...imports.env,
        __syscall_openat: (_folder: number, name: number) => (this.#text(name) === this.name ? DESCRIPTOR : NO_SUCH_FILE),
        __syscall_stat64: () => NO_SUCH_FILE,
        __syscall_lstat64: () => NO_SUCH_FILE,
        __syscall_newfstatat: () => NO_SUCH_FILE,
        __syscall_unlinkat: () => NO_SUCH_FILE,
        __syscall_fstat64: (_descriptor: number, at: number) => this.#stat(at),
      },
      wasi_snapshot_preview1: {
        ...imports.wasi_snapshot_preview1,
        fd_close: () => 0,
        fd_seek: (_descriptor: number, offset: bigint, whence: number, result: number) => this.#seek(offset, whence, result),
        fd_read: (_descriptor: number, vectors: number, count: number, result: number) => this.#read(vectors, count, result),
      },
    }
  }

  get #view(): DataView {
    return new DataView(this.#memory!.buffer)
  }

  #text(at: number): string {
    const bytes = new Uint8Array(this.#memory!.buffer)
    return Buffer.from(bytes.subarray(at, bytes.indexOf(0, at))).toString()
  }

  #stat(at: number): number {
    new Uint8Array(this.#memory!.buffer, at, STAT_BYTES).fill(0)
    this.#view.setUint32(at + MODE_AT, READ_ONLY_FILE, true)
    this.#view.setBigInt64(at + SIZE_AT, BigInt(this.#bytes.size), true)
    return 0
  }

  #seek(offset: bigint, whence: number, result: number): number {
    const from = whence === 0 ? 0 : whence === 1 ? this.#position : this.#bytes.size
    this.#position = Math.max(0, from + Number(offset))
    this.#view.setBigInt64(result, BigInt(this.#position), true)
    return 0
  }

  #read(vectors: number, count: number, result: number): number {
    let total = 0
    for (let index = 0; index < count; index++) {
      const at = this.#view.getUint32(vectors + 8 * index, true)
      const length = this.#view.getUint32(vectors + 8 * index + 4, true)
      const got = this.#bytes.readInto(new Uint8Array(this.#memory!.buffer, at, length), this.#position)
      this.#position += got
      total += got
      if (got < length) break
    }
    this.#view.setUint32(result, total, true)
    return 0
  }
}
