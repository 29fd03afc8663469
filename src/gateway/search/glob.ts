import { type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import picomatch from 'picomatch'
import { WorkspaceError } from '../../lib/errors.ts'
import type { GlobParams, GlobResult } from '../protocol.ts'
import { globMatcher } from './glob-matcher.ts'
import { type Walked, walk } from './walk.ts'

const MAX_PATTERN = 4096
const BATCH = 2048

/** Where the walk of a pattern begins, and what must match below it. */
export interface GlobPlan {
  /** The literal start of the pattern, as a path: absolute, or relative to the searched directory. */
  base: string
  /** The rest, relative to `base`; empty when the pattern has no wildcard. */
  rest: string
}

/** Splits a pattern at its first wildcard; backslashes are slashes in one without any. An empty one is `invalid_argument`. */
export function planGlob(pattern: string): GlobPlan {
  if (pattern === '')
    throw new WorkspaceError('invalid_argument', 'The glob pattern is empty.', { hint: 'Use `**/*` to match everything.' })
  if (pattern.length > MAX_PATTERN)
    throw new WorkspaceError('invalid_argument', `The glob pattern is longer than ${MAX_PATTERN} characters.`)
  const slashed =
    !pattern.includes('/') && /\\[\w*.]/.test(pattern) && !/\\[[\]{}()!?]/.test(pattern) ? pattern.replaceAll('\\', '/') : pattern
  const { base, glob } = picomatch.scan(slashed.replace(/^(\.\/)+/, ''), { scanToEnd: true, nonegate: true })
  const literal = base.replace(/\\(.)/g, '$1')
  if (glob === '') return { base: dirname(literal), rest: escapeGlob(basename(literal)) }
  return glob.startsWith('/') ? { base: literal === '' ? '/' : literal, rest: glob.slice(1) } : { base: literal, rest: glob }
}

function escapeGlob(name: string): string {
  return name.replace(/[\\*?[\]{}()!+@|^$]/g, '\\$&')
}

export interface GlobRun {
  /** Directory that `rest` is relative to. */
  directory: string
  rest: string
  /** The path as it is named in the answer, and the path that stands for `directory` there. */
  path: string
  named: string
  timeoutMs: number
  signal: AbortSignal
}

/** All files that match, newest first; symbolic links to files count, links to directories are not followed. */
export async function glob(params: GlobParams, run: GlobRun): Promise<GlobResult> {
  const matcher = globMatcher(params.pattern, run.rest, run)
  const unreadable: string[] = []
  const deadline = performance.now() + run.timeoutMs
  const stopped = () => run.signal.aborted || performance.now() > deadline
  const maxDepth = run.rest.includes('**') ? undefined : run.rest.split('/').length - 1
  const found: { path: string; mtimeMs: number }[] = []
  let batch: Walked[] = []
  const flush = async (): Promise<void> => {
    const matches = await matcher.test(batch.map(walked => walked.relative))
    batch.forEach((walked, i) => {
      const mtimeMs = matches[i] ? modifiedFile(walked) : undefined
      if (mtimeMs !== undefined) found.push({ path: join(run.named, walked.relative), mtimeMs })
    })
    batch = []
  }
  try {
    for await (const walked of walk(run.directory, { maxDepth, stopped, onUnreadable: at => unreadable.push(at) })) {
      batch.push(walked)
      if (batch.length >= BATCH) await flush()
    }
    await flush()
  } finally {
    await matcher.close()
  }
  if (run.signal.aborted) throw new WorkspaceError('cancelled', 'The search was cancelled.')
  found.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1))
  const notices = unreadable.length > 0 ? [unreadableNotice(unreadable)] : []
  const late = stopped()
  if (late) notices.push(`The search was stopped after ${run.timeoutMs} ms: the answer is incomplete.`)
  const files = found.slice(0, params.limit).map(file => file.path)
  return { path: run.path, files, total: found.length, truncated: found.length > files.length || late, notices }
}

/** The modification time of a file, or of the file that a link leads to; undefined for a link to anything else. */
function modifiedFile({ path, entry }: Walked): number | undefined {
  const stat = statOf(path)
  if (stat === undefined) return entry.isSymbolicLink() ? undefined : 0
  return stat.isDirectory() ? undefined : stat.mtimeMs
}

/** What is at a path; undefined for what is gone, and for what can't be looked at (as links in `/proc`). */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** One sentence about directories that could not be read. */
export function unreadableNotice(paths: readonly string[]): string {
  return `The answer is partial: ${paths.length} ${paths.length === 1 ? 'path was' : 'paths were'} unreadable (${paths[0]}).`
}
