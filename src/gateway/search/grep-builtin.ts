import { WorkspaceError } from '../../lib/errors.ts'
import type { GrepParams, GrepResult } from '../protocol.ts'
import { fileTypeGlobs } from './file-types.ts'
import { unreadableNotice } from './glob.ts'
import { filterMatcher } from './glob-matcher.ts'
import { GrepFindings } from './grep-findings.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { jsPattern } from './js-pattern.ts'
import { showLine } from './line-window.ts'
import { patternError } from './pattern-error.ts'
import type { FileAnswer } from './pattern-thread.ts'
import { PatternWorker } from './pattern-worker.ts'
import type { Target } from './rg-args.ts'
import { walk } from './walk.ts'

export interface BuiltinSearch {
  target: Target
  /** Rules of the directories above the target. */
  above: IgnoreRules | undefined
  path: string
  timeoutMs: number
  signal: AbortSignal
}

/** Searches without ripgrep, with the same answers: own walk, the pattern in a thread that is ended at the time limit. */
export async function grepBuiltin(params: GrepParams, search: BuiltinSearch): Promise<GrepResult> {
  const judge = judgeOf(params)
  const findings = new GrepFindings(params, { real: search.target.real, path: search.path })
  const { before = 0, after = 0, mode, multiline = false, maxLineBytes } = params
  const worker = new PatternWorker({ ...jsPattern(params), grep: { mode, multiline, before, after, maxLineBytes } })
  const unreadable: string[] = []
  const notices: string[] = []
  const deadline = performance.now() + search.timeoutMs
  const stopped = () => search.signal.aborted || performance.now() > deadline || findings.full
  try {
    for await (const path of candidates(search, { judge, stopped, unreadable })) {
      if (stopped()) break
      const timeoutMs = Math.max(1, deadline - performance.now())
      const answer = await worker.ask<FileAnswer>({ search: path }, { timeoutMs, signal: search.signal })
      if (answer === undefined) break
      if ('unreadable' in answer) unreadable.push(path)
      else if (!('binary' in answer)) record(findings, answer, params)
      else if (search.target.isFile) notices.push(`${path} is a binary file: its matches are not shown.`)
    }
  } finally {
    await worker.close()
  }
  if (search.signal.aborted) throw new WorkspaceError('cancelled', 'The search was cancelled.')
  if (unreadable.length > 0) notices.push(unreadableNotice(unreadable))
  if (performance.now() > deadline) notices.push(`The search was stopped after ${search.timeoutMs} ms: the answer is incomplete.`)
  return findings.result({ engine: 'builtin', notices })
}

type Judge = (relative: string, isDirectory: boolean) => 'keep' | 'drop' | undefined

/** The glob and type filters of a search; as in ripgrep a glob that asks for a file overrides `.gitignore`. */
function judgeOf(params: GrepParams): Judge {
  const { glob, type } = params
  const types = type === undefined ? undefined : fileTypeGlobs(type)?.map(filterMatcher)
  if (type !== undefined && types === undefined) throw patternError(params, 'unrecognized file type')
  const negated = glob?.startsWith('!') ?? false
  const wanted = glob === undefined ? undefined : filterMatcher(negated ? glob.slice(1) : glob)
  const directoriesOnly = glob?.endsWith('/') ?? false
  return (relative, isDirectory) => {
    const hit = wanted !== undefined && (isDirectory || !directoriesOnly) && wanted(relative)
    if (hit && negated) return 'drop'
    if (isDirectory) return hit ? 'keep' : undefined
    if (types?.some(matches => matches(relative)) === false) return 'drop'
    if (hit) return 'keep'
    return wanted !== undefined && !negated ? 'drop' : undefined
  }
}

interface Walking {
  judge: Judge
  stopped(): boolean
  unreadable: string[]
}

async function* candidates({ target, above }: BuiltinSearch, { judge, stopped, unreadable }: Walking): AsyncGenerator<string> {
  if (target.isFile) {
    yield target.real
    return
  }
  const options = { gitignore: { above }, judge, stopped, onUnreadable: (path: string) => unreadable.push(path) }
  for await (const { path, entry } of walk(target.real, options)) if (entry.isFile()) yield path
}

function record(
  findings: GrepFindings,
  answer: Extract<FileAnswer, { count: number }>,
  { mode, maxLineBytes }: GrepParams,
): void {
  if (answer.count === 0) return
  if (mode === 'files_with_matches') findings.addFile(answer.path)
  else if (mode === 'count') findings.addCount(answer.path, answer.count)
  else {
    for (const { line, kind, bytes, start, length, column } of answer.lines) {
      findings.addLine(answer.path, {
        line,
        kind,
        text: showLine({ bytes: Buffer.from(bytes), start, length, column }, maxLineBytes),
      })
    }
  }
}
