import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a directory with its parents and gives the first that it made; `undefined` when it is there. Fails with the system's own
 * reason: Node's recursive `mkdir` says `ENOENT` of a read-only file system, and never returns where `/proc` refuses a name or where
 * a mounted directory was removed.
 */
export async function makeFolders(path: string, options: { mode?: number } = {}): Promise<string | undefined> {
  const refusal = await refusalOf(path, options)
  if (refusal === undefined) return path
  if (await isDirectory(path)) return undefined
  const parent = dirname(path)
  if (refusal.code !== 'ENOENT' || parent === path) throw refusal
  const first = await makeFolders(parent, options)
  const again = await refusalOf(path, options)
  if (again !== undefined && !(await isDirectory(path))) throw again
  return first ?? path
}

/** `makeFolders` for callers that can't wait. */
export function makeFoldersSync(path: string, options: { mode?: number } = {}, mayMakeParent = true): void {
  try {
    mkdirSync(path, options)
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    const parent = dirname(path)
    if (!mayMakeParent || (error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    makeFoldersSync(parent, options)
    makeFoldersSync(path, options, false)
  }
}

async function refusalOf(path: string, options: { mode?: number }): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path, options)
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    found => found.isDirectory(),
    () => false,
  )
}
