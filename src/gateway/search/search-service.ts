import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, resolve } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { expandHome } from '../../lib/paths.ts'
import type { CallContext, Handlers } from '../dispatch.ts'
import { errno, fsError } from '../files/fs-error.ts'
import { type Location, locate } from '../files/locate.ts'
import { missing } from '../files/near-names.ts'
import type { GlobParams, GlobResult, GrepParams, GrepResult } from '../protocol.ts'
import { glob, planGlob } from './glob.ts'
import { grepBuiltin } from './grep-builtin.ts'
import { grepWithRipgrep } from './grep-ripgrep.ts'
import { rulesAbove } from './ignore-rules.ts'
import { findOnPath, isExecutable } from './ripgrep.ts'

export interface SearchServiceOptions {
  workdir: string
  /** Directory that no search may leave; a call's own `confine` narrows it further. */
  root?: string | undefined
  /** Path of a ripgrep to use before any on the `PATH`; `null`: always the built-in search. */
  ripgrep?: string | null | undefined
  /** Limit of one search, in ms; what was found until then is the answer. */
  timeoutMs: number
  log: Logger
}

export interface SearchService {
  handlers: Pick<Handlers, 'search.glob' | 'search.grep'>
  /** Path of the ripgrep that a link with this environment gets; null where the built-in search stands in. */
  ripgrep(env?: Readonly<Record<string, string>>): Promise<string | null>
}

/** Glob and Grep of a gateway. */
export function createSearchService(options: SearchServiceOptions): SearchService {
  const { workdir, log } = options
  const limitOf = (params: { timeoutMs?: number }): number => params.timeoutMs ?? options.timeoutMs

  async function ripgrep(env: Readonly<Record<string, string>> = {}): Promise<string | null> {
    if (options.ripgrep === null) return null
    if (options.ripgrep !== undefined && (await isExecutable(options.ripgrep))) return options.ripgrep
    return (await findOnPath(env.PATH)) ?? null
  }

  async function find(
    path: string,
    params: GlobParams | GrepParams,
    context: CallContext,
  ): Promise<Location & { isFile: boolean }> {
    const where = { workdir, home: context.link.env.HOME }
    if (options.root !== undefined && params.confine !== undefined) await locate(path, { ...where, confine: options.root })
    const location = await locate(path === '' ? '.' : path, { ...where, confine: params.confine ?? options.root })
    return { ...location, isFile: await isFileAt(location) }
  }

  async function grep(params: GrepParams, context: CallContext): Promise<GrepResult> {
    if (params.pattern === '')
      throw new WorkspaceError('invalid_argument', 'The pattern is empty.', { hint: 'Use Glob to list files.' })
    const { path, real, isFile } = await find(params.path, params, context)
    const { inRepository, rules } = await rulesAbove(isFile ? dirname(real) : real)
    const search = { target: { real, isFile, inRepository }, path, timeoutMs: limitOf(params), signal: context.signal }
    const program = await ripgrep(context.link.env)
    if (program === null) return grepBuiltin(params, { ...search, above: rules })
    try {
      return await grepWithRipgrep(params, { ...search, program })
    } catch (error) {
      if (error instanceof WorkspaceError) throw error
      log.warn({ program, error: String(error) }, 'ripgrep cannot be started; the built-in search stands in')
      return grepBuiltin(params, { ...search, above: rules })
    }
  }

  async function globHandler(params: GlobParams, context: CallContext): Promise<GlobResult> {
    const { base, rest } = planGlob(expandHome(params.pattern, context.link.env.HOME))
    const top = await find(params.path, params, context)
    if (top.isFile) throw new WorkspaceError('invalid_argument', `${top.path} is a file, not a directory.`)
    const start = isAbsolute(base) ? base : resolve(top.path, base)
    const at = start === top.path ? top : await find(start, params, context).catch(absent)
    if (at === undefined || at.isFile) return { path: top.path, files: [], total: 0, truncated: false, notices: [] }
    return glob(params, {
      directory: at.real,
      rest,
      path: top.path,
      named: at.path,
      timeoutMs: limitOf(params),
      signal: context.signal,
    })
  }

  return { handlers: { 'search.glob': globHandler, 'search.grep': grep }, ripgrep }
}

/** A pattern whose literal start does not exist matches nothing. */
function absent(error: unknown): undefined {
  if (error instanceof WorkspaceError && error.code === 'not_found') return undefined
  throw error
}

async function isFileAt({ path, real }: Location): Promise<boolean> {
  const found = await stat(real).catch(async error => {
    throw errno(error) === 'ENOENT' ? await missing(path) : fsError(error, 'search', path)
  })
  if (found.isDirectory()) return false
  if (found.isFile()) return true
  throw new WorkspaceError('invalid_argument', `${path} is neither a file nor a directory.`)
}
