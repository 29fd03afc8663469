import { statSync } from 'node:fs'
import type { GrepLine, GrepParams, GrepResult } from '../protocol.ts'

/** So many lines are gathered before a search is stopped, so that pages of small answers have a stable order. */
const GATHERED_LINES = 5_000
const GATHERED_CHARS = 4 * 1024 * 1024
const GATHERED_FILES = 50_000
/** Newest first up to so many files, beyond it by path: a look at each of more would take as long as the search. */
const DATED_FILES = 10_000

interface Found {
  line: number
  text: string
  kind: 'match' | 'context'
}

interface Place {
  /** The real path that is searched, and the path that stands for it in the answer. */
  real: string
  path: string
  /** Whether findings in a file count; absent: all do. */
  accepts?: ((path: string) => boolean) | undefined
}

/** Gathers what either engine finds, and makes the answer of it: sorted, paged, with gaps. */
export class GrepFindings {
  readonly #params: GrepParams
  readonly #place: Place
  readonly #lines = new Map<string, Found[]>()
  readonly #files: { path: string; mtimeMs: number }[] = []
  readonly #counts: { path: string; count: number }[] = []
  #lineCount = 0
  #chars = 0
  /** More was found than is gathered: the search can be stopped. */
  full = false

  constructor(params: GrepParams, place: Place) {
    this.#params = params
    this.#place = place
  }

  get empty(): boolean {
    return this.#lineCount === 0 && this.#files.length === 0 && this.#counts.length === 0
  }

  addLine(realPath: string, found: Found): void {
    if (this.#place.accepts?.(realPath) === false) return
    const wanted = this.#params.offset + this.#params.limit
    if (this.#lineCount >= Math.max(wanted, GATHERED_LINES) || (this.#lineCount > wanted && this.#chars > GATHERED_CHARS)) {
      this.full = true
      return
    }
    const path = this.#named(realPath)
    const lines = this.#lines.get(path)
    if (lines === undefined) this.#lines.set(path, [found])
    else lines.push(found)
    this.#lineCount++
    this.#chars += found.text.length
  }

  addFile(path: string): void {
    if (this.#place.accepts?.(path) === false) return
    if (this.#files.length >= GATHERED_FILES) this.full = true
    else this.#files.push({ path: this.#named(path), mtimeMs: this.#files.length < DATED_FILES ? modified(path) : 0 })
  }

  addCount(path: string, count: number): void {
    if (this.#place.accepts?.(path) === false) return
    if (this.#counts.length >= GATHERED_FILES) this.full = true
    else this.#counts.push({ path: this.#named(path), count })
  }

  result(about: { engine: GrepResult['engine']; notices: string[] }): GrepResult {
    const { mode, offset, limit } = this.#params
    const page = <T>(all: readonly T[]): T[] => all.slice(offset, offset + limit)
    const dated = this.#files.length <= DATED_FILES
    const files = this.#files.sort((a, b) => (dated && b.mtimeMs - a.mtimeMs) || compare(a.path, b.path)).map(file => file.path)
    const counts = this.#counts.sort((a, b) => compare(a.path, b.path))
    const total = this.#lineCount + files.length + counts.length
    const matches = counts.reduce((sum, entry) => sum + entry.count, 0)
    const complete = !this.full && about.notices.length === 0
    return {
      path: this.#place.path,
      mode,
      lines: this.#page(),
      files: page(files),
      counts: page(counts),
      ...(complete && mode === 'files_with_matches' ? { totals: { files: files.length } } : {}),
      ...(complete && mode === 'count' ? { totals: { files: counts.length, matches } } : {}),
      truncated: this.full || total > offset + limit,
      ...about,
    }
  }

  #named(path: string): string {
    const { real, path: named } = this.#place
    return real === named ? path : named + path.slice(real.length)
  }

  /** The asked-for lines, by path, with a gap wherever context is shown and lines were left out. */
  #page(): GrepLine[] {
    const { offset, limit, before = 0, after = 0 } = this.#params
    const result: GrepLine[] = []
    let index = 0
    let previous: GrepLine | undefined
    for (const path of [...this.#lines.keys()].sort(compare)) {
      for (const found of this.#lines.get(path)!) {
        if (index >= offset + limit) return result
        if (index++ < offset) continue
        const follows = previous === undefined || (previous.path === path && previous.line + 1 === found.line)
        if (!follows && before + after > 0) result.push({ path, line: 0, text: '', kind: 'gap' })
        previous = { path, ...found }
        result.push(previous)
      }
    }
    return result
  }
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
