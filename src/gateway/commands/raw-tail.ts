/** The last bytes of a stream in a ring: nothing is allocated after its first, whatever passes. */
export class RawTail {
  readonly #ring: Buffer
  #at = 0
  #total = 0

  constructor(size: number) {
    this.#ring = Buffer.allocUnsafeSlow(size)
  }

  /** Takes the next bytes, valid during the call only. */
  push(bytes: Buffer): void {
    const size = this.#ring.length
    this.#total += bytes.length
    const part = bytes.length > size ? bytes.subarray(bytes.length - size) : bytes
    const copied = part.copy(this.#ring, this.#at)
    if (copied < part.length) part.copy(this.#ring, 0, copied)
    this.#at = (this.#at + part.length) % size
  }

  /** What it holds, and how many bytes came before that. */
  take(): { bytes: Buffer; dropped: number } {
    const size = this.#ring.length
    if (this.#total <= size) return { bytes: this.#ring.subarray(0, this.#total), dropped: 0 }
    const bytes = Buffer.concat([this.#ring.subarray(this.#at), this.#ring.subarray(0, this.#at)])
    return { bytes, dropped: this.#total - size }
  }
}
