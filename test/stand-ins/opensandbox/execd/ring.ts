/** The last bytes of a stream, and how many there were in all. */
export class Ring {
  readonly #size: number
  #parts: Buffer[] = []
  #held = 0
  offset = 0

  constructor(size: number) {
    this.#size = size
  }

  push(part: Buffer): void {
    this.#parts.push(part)
    this.#held += part.length
    this.offset += part.length
    // Joined rarely, so that small parts cost little.
    if (this.#held > 2 * this.#size) this.#trim()
  }

  /** What is held from `since` on, and the offset of its first byte. */
  read(since: number): { from: number; bytes: Buffer } {
    this.#trim()
    const start = this.offset - this.#held
    const from = Math.min(Math.max(since, start), this.offset)
    return { from, bytes: Buffer.concat(this.#parts).subarray(from - start) }
  }

  #trim(): void {
    const all = Buffer.concat(this.#parts).subarray(-this.#size)
    this.#parts = [all]
    this.#held = all.length
  }
}
