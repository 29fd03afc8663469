import { accessSync, constants } from 'node:fs'
import { basename, delimiter } from 'node:path'

export interface FoundShell {
  path: string
  kind: 'bash' | 'sh'
}

/** Where programs usually lie. */
export const DIRECTORIES = ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin', '/run/current-system/sw/bin']

/** The shell that runs commands: the one named, else bash, else any POSIX shell; nothing where there is none. */
export function findShell(named: string | undefined, path = ''): FoundShell | null {
  if (named !== undefined) return isExecutable(named) ? { path: named, kind: kindOf(named) } : null
  const directories = [...DIRECTORIES, ...path.split(delimiter).filter(entry => entry.startsWith('/'))]
  for (const name of ['bash', 'sh', 'dash', 'ash']) {
    for (const directory of directories) {
      const candidate = `${directory}/${name}`
      if (isExecutable(candidate)) return { path: candidate, kind: kindOf(name) }
    }
  }
  return null
}

function kindOf(path: string): FoundShell['kind'] {
  return basename(path).startsWith('bash') ? 'bash' : 'sh'
}

/** Whether there is a file that this process may execute. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
