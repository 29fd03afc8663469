import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { parse } from 'node:path'

/** The directory to work in; none means a workspace named default in the data directory. `note` says why that was taken. */
export interface ChosenDirectory {
  directory?: string
  note?: string
  problem?: string
}

export interface DirectoryQuestion {
  mode: 'stdio' | 'http'
  /** From flag, environment or file. */
  given: string | undefined
  cwd: string
  home: string | undefined
}

/**
 * A given directory must exist. On stdio the current one counts when none is given, except a root, the home
 * directory, and what can't be written: desktop clients start servers there, and nobody means it.
 */
export function chooseDirectory({ mode, given, cwd, home }: DirectoryQuestion): ChosenDirectory {
  if (given !== undefined) {
    const problem = problemOf(given, constants.R_OK)
    return problem === undefined ? { directory: given } : { problem }
  }
  if (mode === 'http') return {}
  const unfit = unfitness(cwd, home ?? homedir())
  if (unfit === undefined) return { directory: cwd }
  return {
    note: `The current directory ${cwd} ${unfit}: the workspace named default in the data directory is used. --directory names another.`,
  }
}

function unfitness(cwd: string, home: string): string | undefined {
  if (cwd === parse(cwd).root) return 'is the root'
  if (real(cwd) === real(home)) return 'is the home directory'
  return problemOf(cwd, constants.W_OK) === undefined ? undefined : "can't be written"
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function problemOf(directory: string, access: number): string | undefined {
  try {
    if (!statSync(directory).isDirectory()) return `${directory} is no directory.`
    accessSync(directory, access | constants.X_OK)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? `${directory} does not exist.` : `${directory} can't be used (${code}).`
  }
}
