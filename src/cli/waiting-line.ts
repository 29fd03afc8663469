/** Where it is shown. */
export interface WaitingOutput {
  isTTY?: boolean | undefined
  write(text: string): unknown
}

const TICK_MS = 1_000

/** A line on a terminal that names what is waited for, and since when; nothing where the output is no terminal. */
export class WaitingLine implements Disposable {
  readonly #output: WaitingOutput
  #timer: NodeJS.Timeout | undefined

  constructor(output: WaitingOutput) {
    this.#output = output
  }

  show(what: string): void {
    this.clear()
    if (this.#output.isTTY !== true) return
    const begun = performance.now()
    const draw = () => this.#output.write(`\r\u001b[K  ...   ${what} (${Math.round((performance.now() - begun) / 1_000)} s)`)
    draw()
    this.#timer = setInterval(draw, TICK_MS)
  }

  /** Takes the line away. */
  clear(): void {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#output.write('\r\u001b[K')
  }

  [Symbol.dispose](): void {
    this.clear()
  }
}
