import picomatch from 'picomatch'
import { WorkspaceError } from '../../lib/errors.ts'
import { PatternWorker } from './pattern-worker.ts'

/** More than so many `*` in one segment, `**` or `{` in one pattern, can make matching a long name take for ever; so can any `(`. */
const TAME_STARS = 3

export interface GlobMatcher {
  /** Which of the relative paths match. */
  test(paths: readonly string[]): Promise<boolean[]>
  close(): Promise<void>
}

/** A matcher for `rest`; a pattern that could run away is matched in a worker, and fails with `timeout` there. */
export function globMatcher(pattern: string, rest: string, limits: { timeoutMs: number; signal: AbortSignal }): GlobMatcher {
  const { timeoutMs, signal } = limits
  const regex = compileGlob(pattern, rest)
  if (isTame(rest)) return { test: async paths => paths.map(path => regex.test(path)), close: async () => {} }
  const worker = new PatternWorker({ source: regex.source, flags: regex.flags })
  return {
    async test(paths) {
      const matches = await worker.ask<boolean[]>({ test: paths }, limits)
      if (matches !== undefined) return matches
      if (signal.aborted) throw new WorkspaceError('cancelled', 'The search was cancelled.')
      throw new WorkspaceError('timeout', `Matching the glob ${JSON.stringify(pattern)} took longer than ${timeoutMs} ms.`, {
        hint: 'Use fewer wildcards in it.',
      })
    },
    close: () => worker.close(),
  }
}

/** Whether a file name or path passes a filter glob, in the manner of ripgrep: one without a slash looks at the last part alone. */
export function filterMatcher(glob: string): (relative: string) => boolean {
  if (!isTame(glob)) throw new WorkspaceError('invalid_argument', `The glob ${JSON.stringify(glob)} has too many wildcards.`)
  const anchored = glob.replace(/\/$/, '').includes('/')
  const regex = compileGlob(glob, glob.replace(/^\//, '').replace(/\/$/, ''))
  return anchored ? path => regex.test(path) : path => regex.test(path.slice(path.lastIndexOf('/') + 1))
}

function compileGlob(pattern: string, rest: string): RegExp {
  try {
    return picomatch.makeRe(rest, { dot: true, nonegate: true, strictBrackets: true })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new WorkspaceError('invalid_argument', `The glob ${JSON.stringify(pattern)} is not valid: ${why}.`)
  }
}

function isTame(pattern: string): boolean {
  if (pattern.includes('(') || pattern.split('{').length - 1 > TAME_STARS) return false
  const segments = pattern.split('/')
  if (segments.filter(segment => segment.includes('**')).length > TAME_STARS) return false
  return segments.every(segment => (segment.match(/\*+/g)?.length ?? 0) <= TAME_STARS)
}
