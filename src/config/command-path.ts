import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, symlink } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { WorkspaceError } from '../lib/errors.ts'
import { makeFolders } from '../lib/make-folders.ts'

/**
 * The `PATH` of local commands and searches, with a ripgrep on it: the configured one first (in a folder of its own, so that the
 * order of the rest stays), else one that is there already, else the one of `@vscode/ripgrep` where that is installed.
 */
export async function commandPath(path: string, options: { ripgrep?: string | undefined; dataDir: string }): Promise<string> {
  if (options.ripgrep !== undefined) return `${await folderOf(options.ripgrep, options.dataDir)}${delimiter}${path}`
  const found = await Promise.all(path.split(delimiter).map(directory => isExecutable(join(directory, 'rg'))))
  if (found.includes(true)) return path
  const packaged = await packagedRipgrep()
  return packaged === undefined ? path : `${path}${path === '' ? '' : delimiter}${dirname(packaged)}`
}

async function folderOf(ripgrep: string, dataDir: string): Promise<string> {
  if (!(await isExecutable(ripgrep))) {
    throw new WorkspaceError('invalid_argument', `ripgrep: ${ripgrep} is not an executable file.`, {
      hint: 'Name the path of ripgrep, or unset it: then the one on the PATH, or a packaged one, is used.',
    })
  }
  const folder = join(dataDir, 'bin', createHash('sha256').update(ripgrep).digest('hex').slice(0, 12))
  await makeFolders(folder, { mode: 0o700 })
  await symlink(ripgrep, join(folder, 'rg')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return folder
}

async function packagedRipgrep(): Promise<string | undefined> {
  try {
    const { rgPath } = await import('@vscode/ripgrep')
    return (await isExecutable(rgPath)) ? rgPath : undefined
  } catch {
    // It is an optional part of an installation; the gateway has a search of its own.
    return undefined
  }
}

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
