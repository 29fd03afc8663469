import { randomBytes } from 'node:crypto'
import { chmod, lstat, opendir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'

/**
 * Removes a directory tree that lies below `container`. Refuses (`permission_denied`) a link and anything whose real path is
 * elsewhere; links inside are removed, never followed. The name is free at once; a missing tree is no error.
 */
export async function removeTree(path: string, container: string): Promise<void> {
  const stat = await lstat(path).catch(missingIsNothing)
  if (stat === undefined) return
  const real = stat.isSymbolicLink() ? undefined : await realpath(path)
  const below = `${await realpath(container)}${sep}`
  if (real === undefined || !stat.isDirectory() || !real.startsWith(below)) {
    throw new WorkspaceError('permission_denied', `${path} is not removed: it is a link or lies outside ${container}.`, {
      hint: 'Look at what stands there and remove it by hand.',
    })
  }
  const doomed = join(dirname(real), `.${basename(real).slice(0, 100)}.${randomBytes(4).toString('hex')}.removed`)
  await rename(real, doomed)
  try {
    await rm(doomed, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    // Read-only directories (a Go module cache, for one) keep their entries until they are writable.
    await makeWritable(doomed)
    await rm(doomed, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function makeWritable(directory: string): Promise<void> {
  await chmod(directory, 0o700)
  for await (const entry of await opendir(directory)) {
    if (entry.isDirectory()) await makeWritable(join(directory, entry.name))
  }
}

function missingIsNothing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}
