import { fromBytes, quote, quoteBytes } from './quote.ts'
import type { ShellState } from './shell-state.ts'

const SECRET = /^(ATELIER_.*|E2B_(API_KEY|ACCESS_TOKEN)|DAYTONA_(API_KEY|JWT_TOKEN)|OPEN_?SANDBOX_API_KEY)$/
/** Whether no child may see a variable: Atelier's own settings and the keys of its backends. */
export const isSecret = (name: string): boolean => SECRET.test(name)
/** The variable that marks every process of a run, wherever it went. */
export const MARKER = 'ATELIER_RUN'

/** Settings that keep programs from waiting for a person; each only where the user set none. */
const QUIET: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  npm_config_yes: 'true',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_NO_INPUT: '1',
}

/** Those of them that a program with a terminal does not need. */
const ASKING = new Set([
  'TERM',
  'PAGER',
  'GIT_PAGER',
  'MANPAGER',
  'GIT_TERMINAL_PROMPT',
  'DEBIAN_FRONTEND',
  'npm_config_yes',
  'PIP_NO_INPUT',
])

/** `env` without secrets: what a caller may set for its commands. */
export function withoutSecrets(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecret(name)))
}

/** The environment that a link's commands begin with. */
export function firstEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { ...QUIET, ...withoutSecrets(env) }
}

/** `env` as for a person: without the settings above that keep programs from asking or paging, where they still stand. */
export function loudEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !ASKING.has(name) || QUIET[name] !== value))
}

/** A state as Node can pass it: an environment, a directory, and shell code for what an environment can't hold. */
export interface PreparedState {
  env: Readonly<Record<string, string>>
  cwd: string
  /** Code to run first, in bytes; empty where none is needed. */
  restore: string
  posix: boolean
}

/** Functions by these names would take the boot code's words away from it. */
const UNCARRIED = /^BASH_FUNC_(builtin|eval|exec|trap|unset|set|export|printf|pwd)(%%|\(\))$/

/** Prepares a state for a shell of the given kind. */
export function prepareState(state: ShellState, kind: 'bash' | 'sh'): PreparedState {
  const env: Record<string, string> = {}
  const late: string[] = []
  const word = kind === 'bash' ? quoteBytes : quoteRaw
  for (const [name, value] of state.variables) {
    if (kind === 'bash' && isOwn(name, state)) continue
    const [key, text] = [fromBytes(name), fromBytes(value)]
    if (key === undefined) continue
    if (text === undefined || (kind === 'bash' && key === 'BASH_ENV')) late.push(`export ${name}=${word(value)}`)
    else env[key] = text
  }
  const path = fromBytes(state.cwd)
  env.SHLVL ??= '0'
  env.PWD = path ?? '/'
  const lines = path === undefined ? [changeDirectory(word(state.cwd)), oldDirectory(state, word)] : []
  lines.push(...late)
  if (kind === 'bash' && state.functions) lines.push(state.functions)
  const code = lines.filter(line => line !== '').join('\n')
  const restore = code === '' ? '' : kind === 'bash' ? `unset -v _R\n${code}` : code
  return { env, cwd: path ?? '/', restore, posix: 'POSIXLY_CORRECT' in env }
}

function isOwn(name: string, state: ShellState): boolean {
  if (name === 'SHELLOPTS' || name === 'BASHOPTS' || UNCARRIED.test(name)) return true
  return name.startsWith('BASH_FUNC_') && state.functions !== undefined
}

// a command must never run silently somewhere else
function changeDirectory(path: string): string {
  return `cd -- ${path} || { trap - EXIT; exit 126; }`
}

function oldDirectory(state: ShellState, word: (bytes: string) => string): string {
  const old = state.variables.get('OLDPWD')
  return old === undefined ? 'unset OLDPWD' : `export OLDPWD=${word(old)}`
}

function quoteRaw(bytes: string): string {
  return quote(bytes)
}
