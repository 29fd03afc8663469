import { fromBytes, toBytes } from './quote.ts'
import { parseExports, type ShellDump } from './shell-dump.ts'

/** Bounds of what a kernel passes on in one variable and in all of them, with room for a command's own. */
const MAX_VARIABLE = 120_000
const MAX_ENVIRONMENT = 700_000

/** Where a command of a session starts: never changed once made, so that a run may keep it as its base. */
export interface ShellState {
  readonly cwd: string
  readonly variables: ReadonlyMap<string, string>
  /** Exported functions as source; absent: still those of the first environment. */
  readonly functions: string | undefined
}

const NEVER = new Set(['PWD', 'SHLVL', '_', 'SHELLOPTS', 'BASHOPTS', '_B', '_X', '_R', 'BASH_EXECUTION_STRING'])

function isCarried(name: string, value: string | undefined): boolean {
  return !NEVER.has(name) && !name.startsWith('ATELIER_') && !(name === 'POSIXLY_CORRECT' && value === '@')
}

/** The state that a session begins with. */
export function firstState(env: Readonly<Record<string, string>>, workdir: string): ShellState {
  const variables = new Map<string, string>()
  for (const [name, value] of Object.entries(env)) variables.set(toBytes(name), toBytes(value))
  return { cwd: toBytes(workdir), variables, functions: undefined }
}

/** What one run changed, against the state that it started from. */
export interface StateChange {
  cwd: string | undefined
  variables: Map<string, string | undefined>
  functions: string | undefined
}

/** Compares a dump with its base. Names that a shell can't touch (`A.B`) never count as removed. */
export function changeOf(base: ShellState, dump: ShellDump): StateChange {
  const now = parseExports(dump.exports)
  const variables = new Map<string, string | undefined>()
  for (const [name, value] of now) {
    if (isCarried(name, value) && base.variables.get(name) !== value) variables.set(name, value)
  }
  for (const [name, value] of base.variables) {
    if (!now.has(name) && isCarried(name, value) && /^[A-Za-z_]\w*$/.test(name)) variables.set(name, undefined)
  }
  const functions = dump.functions === (base.functions ?? '') ? undefined : dump.functions
  return { cwd: dump.cwd === base.cwd ? undefined : dump.cwd, variables, functions }
}

/** `state` with a change applied; what is too large to be passed on is dropped and named, largest new first. */
export function applyChange(state: ShellState, change: StateChange): { state: ShellState; dropped: string[] } {
  const variables = new Map(state.variables)
  const dropped: string[] = []
  for (const [name, value] of change.variables) {
    if (value === undefined) variables.delete(name)
    else if (name.length + value.length > MAX_VARIABLE) dropped.push(name)
    else variables.set(name, value)
  }
  dropLargest(variables, change, dropped)
  let functions = change.functions ?? state.functions
  if (functions !== undefined && functions.length > MAX_VARIABLE) {
    dropped.push('exported functions')
    functions = state.functions
  }
  return { state: { cwd: change.cwd ?? state.cwd, variables, functions }, dropped }
}

function dropLargest(variables: Map<string, string>, change: StateChange, dropped: string[]): void {
  let size = 0
  for (const [name, value] of variables) size += name.length + value.length + 2
  if (size <= MAX_ENVIRONMENT) return
  const fresh = [...change.variables].filter(([name]) => variables.has(name))
  fresh.sort((a, b) => (b[1]?.length ?? 0) - (a[1]?.length ?? 0))
  for (const [name, value] of fresh) {
    if (size <= MAX_ENVIRONMENT) return
    variables.delete(name)
    dropped.push(name)
    size -= name.length + (value?.length ?? 0) + 2
  }
}

/** The directory of a state as text; bytes that are no UTF-8 are shown as U+FFFD. */
export function shownCwd(state: ShellState): string {
  return fromBytes(state.cwd) ?? Buffer.from(state.cwd, 'latin1').toString('utf8')
}
