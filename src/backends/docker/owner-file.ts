import { randomBytes } from 'node:crypto'
import { link, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { DockerRecord } from './record.ts'

/** Folder of all workspaces' own things; made before the first container is. */
export function workspacesFolder(dataDir: string): string {
  return join(dataDir, 'docker')
}

/** Folder of one workspace's own things on the host. */
export function workspaceFolder(dataDir: string, id: string): string {
  return join(workspacesFolder(dataDir), id)
}

function ownerFile(folder: string): string {
  return join(folder, 'owner.json')
}

/** The record that stands in a workspace's folder; `undefined` when there is none. Throws a plain `Error` for a bad one. */
export async function readOwner(dataDir: string, id: string): Promise<DockerRecord | undefined> {
  try {
    return parse(await readFile(ownerFile(workspaceFolder(dataDir, id)), 'utf8'), id)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

/** Writes the record unless there is one, whole or not at all, and gives the one that stands there then. */
export async function claimOwner(dataDir: string, record: DockerRecord): Promise<{ record: DockerRecord; made: boolean }> {
  const path = ownerFile(workspaceFolder(dataDir, record.id))
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify({ version: 1, ...record }, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(temporary, path)
    return { record, made: true }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return { record: parse(await readFile(path, 'utf8'), record.id), made: false }
  } finally {
    await rm(temporary, { force: true })
  }
}

export function removeOwner(dataDir: string, id: string): Promise<void> {
  return rm(ownerFile(workspaceFolder(dataDir, id)), { force: true })
}

/** All records of the data directory. A bad one is logged and left out. */
export async function* owners(dataDir: string, logger: Logger): AsyncIterable<DockerRecord> {
  const ids = await readdir(workspacesFolder(dataDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for (const id of ids.filter(name => !name.startsWith('.'))) {
    try {
      const record = await readOwner(dataDir, id)
      if (record !== undefined) yield record
    } catch (error) {
      logger.warn({ workspace: id, reason: toWorkspaceError(error).message }, 'owner file skipped')
    }
  }
}

function parse(text: string, id: string): DockerRecord {
  const value = JSON.parse(text) as DockerRecord & { version: unknown }
  const { version, ...record } = value
  if (version !== 1) throw new Error(`its version ${JSON.stringify(version)} is unknown`)
  if (record.id !== id) throw new Error(`it names ${JSON.stringify(record.id)}`)
  const { user, agent, session } = record.owner ?? {}
  const texts = [record.name, record.created, record.image, record.profile, user, agent, session]
  if (!texts.every(each => typeof each === 'string')) throw new Error('a field is missing')
  if (record.keep !== 'bound' && record.keep !== 'own') throw new Error('it is of another kind')
  return record
}
