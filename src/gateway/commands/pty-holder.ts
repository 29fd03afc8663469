import { execFile } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { PTY_PYTHON } from './pty-python.ts'
import { quote } from './quote.ts'
import { DIRECTORIES, isExecutable } from './shell-finder.ts'

const PROBE_MS = 5000

/** The program that holds a command's terminal: it copies between the terminal and the command's pipes, and ends as the command does. */
export interface PtyHolder {
  readonly name: HolderName
  /** What to start for a program with these arguments. */
  command(path: string, args: readonly string[]): { path: string; args: string[] }
  /** The environment that the holder itself needs; `ownShell` of it is put right again by the boot code. */
  environment(env: Readonly<Record<string, string>>): Record<string, string>
}

export type HolderName = 'script' | 'python3'

/** The variable that brings the user's own `SHELL` past `script`, which starts what that names. */
export const OWN_SHELL = '_S'

/** Finds what can hold a terminal, once; asks again only while nothing was found. */
export class PtyHolders {
  readonly #among: readonly HolderName[]
  #found: Promise<PtyHolder> | undefined

  /** `among`: what may be used, in order. */
  constructor(among: readonly HolderName[] = ['script', 'python3']) {
    this.#among = among
  }

  /** The holder; `path` is searched after the usual directories. Throws `unsupported` where there is none. */
  find(path: string): Promise<PtyHolder> {
    this.#found ??= this.#probe(path).catch(error => {
      this.#found = undefined
      throw error
    })
    return this.#found
  }

  async #probe(path: string): Promise<PtyHolder> {
    const refused: string[] = []
    for (const name of this.#among) {
      const program = locate(name, path)
      const why = program === undefined ? 'is not there' : await fault(name, program)
      if (program !== undefined && why === undefined) return name === 'script' ? byScript(program) : byPython(program)
      refused.push(`${name} ${why}`)
    }
    throw new WorkspaceError('unsupported', `No terminal can be given to a command here: ${refused.join(', ')}.`, {
      hint: 'Install script (Debian: bsdutils, Alpine: util-linux-misc, Fedora: util-linux-script) or python3, or use input: pipe.',
    })
  }
}

/** The signal that a holder tells by its exit code, as a shell does: 128 and its number. */
export function signalOf(exitCode: number | undefined): string | undefined {
  const number = (exitCode ?? 0) - 128
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0]
}

function locate(name: string, path: string): string | undefined {
  const directories = [...DIRECTORIES, ...path.split(delimiter).filter(entry => entry.startsWith('/'))]
  return directories.map(directory => `${directory}/${name}`).find(isExecutable)
}

/** Why a program of that name is not the one that is needed; nothing where it is. */
function fault(name: HolderName, program: string): Promise<string | undefined> {
  const args = name === 'script' ? ['--version'] : ['-I', '-S', '-c', 'import pty, resource, select']
  return new Promise(resolve => {
    execFile(program, args, { timeout: PROBE_MS, env: { PATH: '/usr/bin:/bin' } }, (error, stdout) => {
      if (name === 'script') resolve(stdout.includes('util-linux') ? undefined : "is not util-linux's")
      else resolve(error ? 'has no module pty' : undefined)
    })
  })
}

function byScript(program: string): PtyHolder {
  return {
    name: 'script',
    command: (path, args) => {
      const command = ['exec', ...[path, ...args].map(quote)].join(' ')
      return { path: program, args: ['--quiet', '--return', '--flush', '--command', command, '/dev/null'] }
    },
    environment: env => ({ ...env, SHELL: '/bin/sh', ...(env.SHELL === undefined ? {} : { [OWN_SHELL]: env.SHELL }) }),
  }
}

function byPython(program: string): PtyHolder {
  return {
    name: 'python3',
    command: (path, args) => ({ path: program, args: ['-I', '-S', '-c', PTY_PYTHON, path, ...args] }),
    environment: env => ({ ...env, ...(env.SHELL === undefined ? {} : { [OWN_SHELL]: env.SHELL }) }),
  }
}
