import { WorkspaceError } from '../../lib/errors.ts'
import type { GrepParams, GrepResult } from '../protocol.ts'
import { fileTypeGlobs } from './file-types.ts'
import { filterMatcher } from './glob-matcher.ts'
import { GrepFindings } from './grep-findings.ts'
import { decodeLine } from './line-window.ts'
import { patternError } from './pattern-error.ts'
import { ripgrepArgs, rootOf, type Target } from './rg-args.ts'
import { RecordParser } from './rg-records.ts'
import { type RipgrepEnd, runRipgrep } from './ripgrep.ts'

const WRONG_REQUEST = new RegExp(
  [
    'regex parse error',
    'regex could not be compiled',
    'error parsing glob',
    'unrecognized file type',
    'not allowed in a regex',
    'PCRE2: error',
    '[Cc]ompiled regex exceeds',
    'regex pattern exceeds',
  ].join('|'),
)

export interface RipgrepSearch {
  program: string
  target: Target
  /** The path as it is named in the answer. */
  path: string
  timeoutMs: number
  signal: AbortSignal
}

interface Attempt {
  end: RipgrepEnd
  findings: GrepFindings
  binary: Set<string>
}

/**
 * Searches with ripgrep. Partial answers say so in `notices`; a bad pattern, glob or type is `invalid_argument`. A program that is
 * none throws a plain error.
 */
export async function grepWithRipgrep(params: GrepParams, search: RipgrepSearch): Promise<GrepResult> {
  let last = await attempt(params, search, [])
  if (isBusy(last.end)) last = await attempt(params, search, ['--threads=1'])
  else if (needsLookaround(last.end)) {
    const again = await attempt(params, search, ['--pcre2'])
    if (!/PCRE2 is not available/i.test(again.end.stderr)) last = again
  }
  const { end, findings, binary } = last
  if (end.ended === 'itself' && (end.code ?? 0) > 2)
    throw new Error(`${search.program} ended with code ${end.code}: ${end.stderr.slice(0, 500)}`)
  if (end.ended === 'cancelled') throw new WorkspaceError('cancelled', 'The search was cancelled.')
  const notices = [...binary].map(path => `${path} is a binary file: its matches are not shown.`)
  if (end.ended === 'timeout') notices.push(`The search was stopped after ${search.timeoutMs} ms: the answer is incomplete.`)
  else if (end.ended === 'itself' && (end.code ?? 2) > 1) notices.push(...explain(params, end, findings))
  return findings.result({ engine: 'ripgrep', notices })
}

async function attempt(params: GrepParams, search: RipgrepSearch, extra: readonly string[]): Promise<Attempt> {
  const findings = new GrepFindings(params, { real: search.target.real, path: search.path, accepts: typeFilter(params) })
  const binary = new Set<string>()
  const reader = readerOf(params, findings, path => binary.add(path ?? search.path))
  const end = await runRipgrep({
    program: search.program,
    args: ripgrepArgs(params, search.target, extra),
    cwd: rootOf(search.target),
    timeoutMs: search.timeoutMs,
    signal: search.signal,
    onOutput: chunk => {
      reader.push(chunk)
      return findings.full
    },
  })
  reader.end()
  return { end, findings, binary }
}

function typeFilter({ glob, type }: GrepParams): ((path: string) => boolean) | undefined {
  const matchers = glob === undefined || type === undefined ? undefined : fileTypeGlobs(type)?.map(filterMatcher)
  return matchers === undefined ? undefined : path => matchers.some(matches => matches(path))
}

interface Reader {
  push(chunk: Buffer): void
  end(): void
}

function readerOf(params: GrepParams, findings: GrepFindings, binary: (path: string | undefined) => void): Reader {
  if (params.mode === 'content') return new RecordParser(params, { line: (path, found) => findings.addLine(path, found), binary })
  if (params.mode === 'files_with_matches') return splitter(0, part => findings.addFile(decodeLine(part)))
  return splitter(10, part => {
    const nul = part.indexOf(0)
    if (nul !== -1) findings.addCount(decodeLine(part.subarray(0, nul)), Number(part.subarray(nul + 1).toString('latin1')))
  })
}

/** Gives each part that ends with `separator`. In a count a name may hold newlines: a part without its NUL goes on. */
function splitter(separator: number, take: (part: Buffer) => void): Reader {
  let rest: Buffer = Buffer.alloc(0)
  return {
    push(chunk) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      let from = 0
      for (let at = bytes.indexOf(separator); at !== -1; at = bytes.indexOf(separator, at + 1)) {
        const part = bytes.subarray(from, at)
        if (separator === 10 && !part.includes(0)) continue
        take(part)
        from = at + 1
      }
      rest = Buffer.from(bytes.subarray(from))
    },
    end() {},
  }
}

function isBusy({ code, stderr }: RipgrepEnd): boolean {
  return code !== 0 && code !== 1 && /os error 11\)|Resource temporarily unavailable|EAGAIN|failed to spawn thread/.test(stderr)
}

function needsLookaround({ code, stderr }: RipgrepEnd): boolean {
  return code === 2 && /look-around, including|backreferences are not supported/.test(stderr)
}

/** Why ripgrep ended with an error: throws when the request was wrong, else sentences about what is missing. */
function explain(params: GrepParams, { stderr, code }: RipgrepEnd, findings: GrepFindings): string[] {
  if (findings.empty) {
    if (WRONG_REQUEST.test(stderr)) throw patternError(params, stderr)
  }
  const lines = stderr.split('\n').filter(line => line.trim() !== '')
  const unreadable = lines.filter(line => /os error \d+\)|IO error/.test(line))
  const first = unreadable[0] ?? lines[0]
  const quoted = first === undefined ? `ripgrep ended with code ${code}` : first.replace(/^rg: /, '').trim()
  const count = unreadable.length
  if (count === 0) return [`The answer may be incomplete: ${quoted}`]
  return [`The answer is partial: ${count} ${count === 1 ? 'path was' : 'paths were'} unreadable (${quoted}).`]
}
