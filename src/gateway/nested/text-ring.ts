/** The last characters of a text that keeps coming. */
export class TextRing {
  readonly #max: number
  #parts: string[] = []
  #size = 0

  constructor(max = 16 * 1024) {
    this.#max = max
  }

  add(text: string): void {
    if (text === '') return
    this.#parts.push(text.slice(-this.#max))
    this.#size += Math.min(text.length, this.#max)
    if (this.#size > 2 * this.#max) {
      this.#parts = [this.text]
      this.#size = this.#max
    }
  }

  /** What is kept, from the beginning of a line where something was lost. */
  get text(): string {
    return this.#parts.join('').slice(-this.#max)
  }

  /** The end of it, in at most `max` characters. */
  tail(max = 4000): string {
    const text = this.text.trimEnd()
    if (text.length <= max) return text
    const cut = text.slice(-max)
    return cut.slice(cut.indexOf('\n') + 1)
  }
}
