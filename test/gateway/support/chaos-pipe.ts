import { Duplex } from 'node:stream'

export interface ChaosOptions {
  /** The stream is cut, both ways, after so many bytes in total; what is under way then is lost. */
  cutAfter: number
  /** Largest piece that a reader gets at once. */
  maxRead: number
  /** A terminal that gives each side its own writes back. */
  echo: boolean
  /** Bytes pass through a UTF-8 decoder, as on a text-only stream. */
  text: boolean
  /** Something else writes lines into the host's side now and then. */
  noise: boolean
}

/** Two ends of one in-memory stream that treats what passes as badly as the options say. */
export function chaosPipe(options: ChaosOptions): [Duplex, Duplex] {
  const pipe = { left: options.cutAfter, ends: [] as End[] }
  const cut = (): void => {
    for (const end of pipe.ends) end.destroy()
  }
  class End extends Duplex {
    #queue: Buffer[] = []
    #timer = false

    override _read(): void {}

    override _write(chunk: Buffer, _encoding: string, done: () => void): void {
      const peer = pipe.ends[1 - pipe.ends.indexOf(this)] as End
      if (options.echo) this.deliver(chunk)
      peer.deliver(chunk)
      if (options.noise) peer.deliver(Buffer.from('\nuser@host:~$ '))
      done()
    }

    override _final(done: () => void): void {
      const peer = pipe.ends[1 - pipe.ends.indexOf(this)] as End
      peer.deliver(null)
      done()
    }

    deliver(chunk: Buffer | null): void {
      if (chunk === null) this.#queue.push(Buffer.alloc(0))
      else {
        const bytes = options.text ? Buffer.from(chunk.toString('utf8')) : chunk
        for (let at = 0; at < bytes.length; at += options.maxRead) this.#queue.push(bytes.subarray(at, at + options.maxRead))
      }
      if (this.#timer) return
      this.#timer = true
      setImmediate(() => this.#drain())
    }

    #drain() {
      this.#timer = false
      for (let pieces = 0; pieces < 8; pieces++) {
        const piece = this.#queue.shift()
        if (piece === undefined || this.destroyed) return
        pipe.left -= piece.length
        if (pipe.left < 0) return cut()
        this.push(piece.length === 0 ? null : piece)
      }
      this.#timer = true
      setImmediate(() => this.#drain())
    }
  }
  pipe.ends.push(new End({ allowHalfOpen: false }), new End({ allowHalfOpen: false }))
  return [pipe.ends[0] as Duplex, pipe.ends[1] as Duplex]
}
