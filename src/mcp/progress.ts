const INTERVAL_MS = 100
const MAX_CHARS = 8_192

export interface Progress {
  /** Adds output; it is sent now, or together with what follows within a tenth of a second. */
  push(text: string): void
  /** Sends what is left, synchronously, so that it comes before the answer; nothing is sent afterwards. */
  end(): void
}

/** Turns output into progress messages: rate-limited, growing by characters; of a burst the newest part is kept. */
export function createProgress(send: (progress: { progress: number; message: string }) => void): Progress {
  let total = 0
  let pending = ''
  let skipped = false
  let last = 0
  let timer: NodeJS.Timeout | undefined
  let ended = false

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (pending === '') return
    const message = skipped ? `…${pending}` : pending
    pending = ''
    skipped = false
    last = performance.now()
    send({ progress: total, message })
  }

  return {
    push(text) {
      if (ended || text === '') return
      total += text.length
      pending += text
      if (pending.length > MAX_CHARS) {
        pending = tailAtCodePoint(pending, MAX_CHARS)
        skipped = true
      }
      const wait = last + INTERVAL_MS - performance.now()
      if (last === 0 || wait <= 0) flush()
      else if (timer === undefined) {
        timer = setTimeout(flush, wait)
        timer.unref()
      }
    },
    end() {
      flush()
      ended = true
    },
  }
}

function tailAtCodePoint(text: string, length: number): string {
  const start = text.length - length
  const code = text.charCodeAt(start)
  return text.slice(code >= 0xdc00 && code <= 0xdfff ? start + 1 : start)
}
