const REDRAW_MS = 100
const WIDTH = 24

/** Where progress is shown. */
export interface ProgressOutput {
  isTTY?: boolean | undefined
  write(text: string): unknown
}

/** A line on a terminal that shows how far a copy is; nothing where the output is no terminal. */
export class ProgressLine {
  readonly #output: ProgressOutput
  #drawn = Number.NEGATIVE_INFINITY
  #done = 0
  #name = ''
  #total: number | undefined

  constructor(output: ProgressOutput) {
    this.#output = output
  }

  /** The next file; `total` bytes are to come where that is known. */
  file(name: string, total?: number): void {
    this.#name = name
    this.#total = total
    this.#done = 0
  }

  add(bytes: number): void {
    this.#done += bytes
    const now = performance.now()
    if (this.#output.isTTY !== true || now - this.#drawn < REDRAW_MS) return
    this.#drawn = now
    const share = this.#total ? Math.min(1, this.#done / this.#total) : 0
    const filled = Math.round(share * WIDTH)
    const size = `${(this.#done / 1024 ** 2).toFixed(1)} MiB`
    this.#output.write(`\r\u001b[K[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${size} ${this.#name}`)
  }

  /** Takes the line away. */
  end(): void {
    if (this.#drawn >= 0) this.#output.write('\r\u001b[K')
  }
}
