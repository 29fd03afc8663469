const ESC = 27
const BEL = 7
/** A string sequence (OSC, DCS, …) that has no end by then was no sequence; output goes on after it. */
const MAX_STRING = 4096

type Kind = 'none' | 'start' | 'csi' | 'string' | 'string-end' | 'charset'

/** Steps over one terminal escape sequence, however it is cut into chunks. */
export class EscapeSkipper {
  /** Final letter of the last control sequence (`K` of `ESC [ 2 K`); empty for any other kind of sequence. */
  final = ''
  /** Its first number. */
  argument: number | undefined
  #kind: Kind = 'none'
  #length = 0
  #later = false

  get inside(): boolean {
    return this.#kind !== 'none'
  }

  begin(): void {
    this.#kind = 'start'
    this.#length = 0
    this.#later = false
    this.final = ''
    this.argument = undefined
  }

  /** Reads on from `from`; gives the index after the sequence, or the chunk's length where it is not over yet. */
  skip(chunk: Uint8Array, from: number): number {
    let at = from
    while (at < chunk.length && this.#kind !== 'none') {
      const consumed = this.#step(chunk[at] as number)
      if (consumed) at++
    }
    return at
  }

  #step(byte: number): boolean {
    if (++this.#length > MAX_STRING) return this.#done(false)
    if (this.#kind === 'start') return this.#start(byte)
    if (this.#kind === 'csi') return this.#csi(byte)
    if (this.#kind === 'charset') return this.#done(true)
    if (this.#kind === 'string-end') return this.#done(byte === 0x5c)
    if (byte === BEL) return this.#done(true)
    if (byte === ESC) this.#kind = 'string-end'
    return true
  }

  #start(byte: number): boolean {
    if (byte === 0x5b) this.#kind = 'csi'
    else if (byte === 0x5d || byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f) this.#kind = 'string'
    else if (byte >= 0x20 && byte <= 0x2f) this.#kind = 'charset'
    else return this.#done(byte >= 0x30 && byte <= 0x7e)
    return true
  }

  #csi(byte: number): boolean {
    if (byte >= 0x40 && byte <= 0x7e) {
      this.final = String.fromCharCode(byte)
      return this.#done(true)
    }
    if (byte < 0x20 || byte > 0x7e) return this.#done(false)
    if (byte === 0x3b) this.#later = true
    else if (byte >= 0x30 && byte <= 0x39 && !this.#later && this.#length < 10)
      this.argument = (this.argument ?? 0) * 10 + byte - 0x30
    return true
  }

  #done(consumed: boolean): boolean {
    this.#kind = 'none'
    return consumed
  }
}
