import type * as nodeBuffer from 'node:buffer'
import type * as nodeFs from 'node:fs'
import type * as nodeThreads from 'node:worker_threads'

/** What a pattern thread searches for, and how. */
export interface PatternSetup {
  source: string
  flags: string
  grep?: {
    mode: 'content' | 'files_with_matches' | 'count'
    multiline: boolean
    before: number
    after: number
    maxLineBytes: number
  }
}

/** A line as the thread gives it: at most what `showLine` can need of it. */
export interface ThreadLine {
  line: number
  kind: 'match' | 'context'
  bytes: Uint8Array
  start: number
  length: number
  column: number
}
export type FileAnswer =
  | { path: string; count: number; lines: ThreadLine[] }
  | { path: string; unreadable: string }
  | { path: string; binary: true }

/**
 * The body of a pattern thread. It is turned into text and must stand alone: it uses its arguments and globals, nothing of this module.
 */
export function patternThread(threads: typeof nodeThreads, fs: typeof nodeFs, buffer: typeof nodeBuffer): void {
  const setup = threads.workerData as PatternSetup
  const regex = new RegExp(setup.source, setup.flags)
  const grep = setup.grep
  const sampleBytes = 65536
  const maxBytes = 256 * 1024 * 1024

  /** Files that would make a reader wait fail instead: a thread that waits in the kernel can't be ended. */
  function readAll(path: string): Buffer {
    const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    try {
      if (fs.fstatSync(fd).size > maxBytes) throw new Error(`larger than ${maxBytes} bytes`)
      return fs.readFileSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  }

  function readText(path: string): Buffer | 'binary' {
    const raw = readAll(path)
    if (raw[0] === 0xff && raw[1] === 0xfe) return Buffer.from(raw.subarray(2).toString('utf16le'))
    if (raw[0] === 0xfe && raw[1] === 0xff) {
      return Buffer.from(
        Buffer.from(raw.subarray(2, 2 + ((raw.length - 2) & ~1)))
          .swap16()
          .toString('utf16le'),
      )
    }
    if (raw.subarray(0, sampleBytes).includes(0)) return 'binary'
    const nul = raw.indexOf(0)
    const text = nul === -1 ? raw : raw.subarray(0, nul)
    return text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf ? text.subarray(3) : text
  }

  /** Numbers (from 0) of the lines that match, with the column of the first match in bytes, and the number of matches. */
  function matchLines(lines: string[], whole: string, encoding: BufferEncoding): { hits: Map<number, number>; count: number } {
    const hits = new Map<number, number>()
    if (!grep!.multiline) {
      for (let i = 0; i < lines.length; i++) {
        const found = regex.exec(lines[i]!)
        if (found !== null) hits.set(i, found.index === 0 ? 0 : Buffer.byteLength(lines[i]!.slice(0, found.index), encoding))
      }
      return { hits, count: hits.size }
    }
    const starts = [0]
    for (let at = whole.indexOf('\n'); at !== -1; at = whole.indexOf('\n', at + 1)) starts.push(at + 1)
    let count = 0
    let line = 0
    for (const found of whole.matchAll(regex)) {
      if (found.index >= whole.length && whole.endsWith('\n')) break
      count++
      while (line + 1 < starts.length && starts[line + 1]! <= found.index) line++
      const end = found.index + Math.max(0, found[0].length - 1)
      const column = Buffer.byteLength(whole.slice(starts[line], found.index), encoding)
      if (!hits.has(line)) hits.set(line, hits.has(line - 1) ? 0 : column)
      for (let next = line + 1; next < starts.length && starts[next]! <= end; next++) if (!hits.has(next)) hits.set(next, 0)
    }
    return { hits, count }
  }

  function cut(
    text: string,
    encoding: BufferEncoding,
    at: { line: number; kind: 'match' | 'context'; column: number },
  ): ThreadLine {
    const all = Buffer.from(text, encoding)
    const from = Math.max(0, at.column - grep!.maxLineBytes)
    const bytes = all.subarray(from, at.column + 2 * grep!.maxLineBytes)
    return { ...at, bytes: new Uint8Array(bytes), start: from, length: all.length }
  }

  function search(path: string): FileAnswer {
    let content: Buffer | 'binary'
    try {
      content = readText(path)
    } catch (error) {
      return { path, unreadable: error instanceof Error ? error.message : String(error) }
    }
    if (content === 'binary') return { path, binary: true }
    const encoding: BufferEncoding = buffer.isUtf8(content) ? 'utf8' : 'latin1'
    const whole = content.toString(encoding)
    const lines = whole.split('\n')
    if (lines[lines.length - 1] === '') lines.pop()
    for (let i = 0; i < lines.length; i++) if (lines[i]!.endsWith('\r')) lines[i] = lines[i]!.slice(0, -1)
    const { hits, count } = matchLines(lines, whole, encoding)
    const shown = new Map<number, ThreadLine>()
    if (grep!.mode === 'content') {
      for (const [hit, column] of hits) shown.set(hit, cut(lines[hit] ?? '', encoding, { line: hit + 1, kind: 'match', column }))
      for (const hit of hits.keys()) {
        for (let i = Math.max(0, hit - grep!.before); i <= Math.min(lines.length - 1, hit + grep!.after); i++) {
          if (!shown.has(i)) shown.set(i, cut(lines[i]!, encoding, { line: i + 1, kind: 'context', column: 0 }))
        }
      }
    }
    return { path, count, lines: [...shown.values()].sort((a, b) => a.line - b.line) }
  }

  threads.parentPort!.on('message', (question: { test?: string[]; search?: string }) => {
    if (question.test !== undefined) threads.parentPort!.postMessage(question.test.map(text => regex.test(text)))
    else if (question.search !== undefined) threads.parentPort!.postMessage(search(question.search))
  })
}
