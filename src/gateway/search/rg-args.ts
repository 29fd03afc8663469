import { dirname } from 'node:path'
import type { GrepParams } from '../protocol.ts'
import { fileTypeGlobs } from './file-types.ts'
import { SKIPPED } from './skipped.ts'

export interface Target {
  /** Real path that is searched. */
  real: string
  isFile: boolean
  /** Whether the target lies in a git work tree, so that the ignore files above it count. */
  inRepository: boolean
}

const OUTPUT: Record<GrepParams['mode'], readonly string[]> = {
  content: ['--line-number', '--column', '--no-heading'],
  files_with_matches: ['--files-with-matches'],
  count: ['--count', '--with-filename'],
}

/** Directory whose relative paths globs are matched against. */
export function rootOf(target: Target): string {
  return target.isFile ? dirname(target.real) : target.real
}

/** The command line of ripgrep for a search: no configuration, hidden files too, only `.gitignore` files count. */
export function ripgrepArgs(params: GrepParams, target: Target, extra: readonly string[] = []): string[] {
  const args = [
    '--no-config',
    '--color=never',
    '--null',
    '--with-filename',
    '--hidden',
    '--no-ignore-global',
    '--no-ignore-exclude',
  ]
  args.push('--no-ignore-dot', '--no-require-git', ...(target.inRepository ? [] : ['--no-ignore-parent']), ...OUTPUT[params.mode])
  if (params.ignoreCase === true) args.push('--ignore-case')
  if (params.multiline === true) args.push('--multiline', '--multiline-dotall')
  else args.push('--crlf')
  if (params.mode === 'content') {
    if (params.before) args.push(`--before-context=${params.before}`)
    if (params.after) args.push(`--after-context=${params.after}`)
  }
  // A glob that asks for a file overrides its type in ripgrep: then the types are checked on what it finds.
  if (
    params.type !== undefined &&
    (params.glob === undefined || params.glob.startsWith('!') || fileTypeGlobs(params.type) === undefined)
  )
    args.push(...typeArgs(params.type))
  if (params.glob !== undefined) args.push(`--glob=${params.glob}`)
  for (const name of SKIPPED) args.push(`--glob=!${name}`)
  return [...args, ...extra, `--regexp=${params.pattern}`, '--', target.real]
}

function typeArgs(type: string): string[] {
  const globs = fileTypeGlobs(type)
  if (globs === undefined) return [`--type=${type}`]
  // A name of our own, so that the answer does not depend on the version of ripgrep.
  return [...globs.map(glob => `--type-add=ateliertype:${glob}`), '--type=ateliertype']
}
