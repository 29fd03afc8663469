/** Bytes as lines without their ends, as execd tells of them: an empty one is "\n", what is no UTF-8 is replaced. */
export class LineSplitter {
  readonly #line: (text: string) => void
  #waiting: string[] = []
  #rest = Buffer.alloc(0)

  constructor(line: (text: string) => void) {
    this.#line = line
  }

  push(bytes: Buffer): void {
    let all = Buffer.concat([this.#rest, bytes])
    for (let at = all.findIndex(isEnd); at >= 0; at = all.findIndex(isEnd)) {
      this.#waiting.push(all.subarray(0, at).toString())
      all = all.subarray(at + 1)
    }
    this.#rest = all
  }

  flush(): void {
    for (const text of this.#waiting.splice(0)) this.#line(text === '' ? '\n' : text)
  }

  /** The last line, which may have no end. */
  end(): void {
    this.flush()
    if (this.#rest.length > 0) this.#line(this.#rest.toString())
    this.#rest = Buffer.alloc(0)
  }
}

function isEnd(byte: number): boolean {
  return byte === 10 || byte === 13
}
