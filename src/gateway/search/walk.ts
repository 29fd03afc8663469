import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { enterDirectory, type IgnoreRules, isIgnored } from './ignore-rules.ts'
import { SKIPPED } from './skipped.ts'

export interface WalkOptions {
  /** Apply `.gitignore` files, beginning with these rules of the directories above; absent: none count. */
  gitignore?: { above: IgnoreRules | undefined } | undefined
  /** Levels of directories that are entered; absent: all. */
  maxDepth?: number | undefined
  /** What a filter says of an entry: `keep` overrides `.gitignore`, `drop` leaves it out, `undefined` leaves it to the rules. */
  judge?(relative: string, isDirectory: boolean): 'keep' | 'drop' | undefined
  /** Called for each directory that could not be read. */
  onUnreadable(path: string): void
  /** Asked before each directory; true ends the walk. */
  stopped(): boolean
}

export interface Walked {
  path: string
  relative: string
  entry: Dirent
}

interface Level {
  path: string
  relative: string
  depth: number
  rules: IgnoreRules | undefined
}

/** Everything under `root` that is no directory, hidden files too, links not followed, `.git` and `.atelier` not entered. */
export async function* walk(root: string, options: WalkOptions): AsyncGenerator<Walked> {
  const stack: Level[] = [{ path: root, relative: '', depth: 0, rules: options.gitignore?.above }]
  for (let level = stack.pop(); level !== undefined; level = stack.pop()) {
    if (options.stopped()) return
    const entries = await readdir(level.path, { withFileTypes: true }).catch(() => undefined)
    if (entries === undefined) {
      options.onUnreadable(level.path)
      continue
    }
    yield* enter(level, entries, { stack, options })
  }
}

async function* enter(
  level: Level,
  entries: Dirent[],
  { stack, options }: { stack: Level[]; options: WalkOptions },
): AsyncGenerator<Walked> {
  const names = options.gitignore === undefined ? [] : entries.map(entry => entry.name)
  const rules = options.gitignore === undefined ? undefined : await enterDirectory(level.path, names, level.rules)
  const base = level.path.endsWith('/') ? level.path : `${level.path}/`
  for (const entry of entries) {
    if (SKIPPED.includes(entry.name)) continue
    const path = base + entry.name
    const relative = level.relative === '' ? entry.name : `${level.relative}/${entry.name}`
    const isDirectory = entry.isDirectory()
    const verdict = options.judge?.(relative, isDirectory)
    if (verdict === 'drop' || (verdict === undefined && rules !== undefined && isIgnored(rules, path, isDirectory))) continue
    if (!isDirectory) yield { path, relative, entry }
    else if (options.maxDepth === undefined || level.depth < options.maxDepth)
      stack.push({ path, relative, depth: level.depth + 1, rules })
  }
}
