import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRecord } from '../../lib/is-record.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import type { Owner } from '../backend.ts'

/** What stands in `.atelier/owner.json`: the label of a local workspace. */
export interface OwnerRecord {
  version: 1
  id: string
  name: string
  owner: Owner
  /** ISO 8601. */
  created: string
  workdir: string
  layout?: 'workdir'
  env?: Record<string, string>
}

/** Path of the owner file below a workspace's root. */
export function ownerFile(root: string): string {
  return join(root, '.atelier', 'owner.json')
}

/** The owner file of `root`; `undefined` when there is none. Throws a plain `Error` when it can't be read as one. */
export async function readOwner(root: string): Promise<OwnerRecord | undefined> {
  let text: string
  try {
    text = await readFile(ownerFile(root), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
  return parseOwner(text)
}

/** Writes the owner file unless there is one, whole or not at all; gives the one that stands there then. */
export async function claimOwner(root: string, record: OwnerRecord): Promise<OwnerRecord> {
  const path = ownerFile(root)
  await makeFolders(dirname(path), { mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(record, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await place(temporary, path)
    return record
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return parseOwner(await readFile(path, 'utf8'))
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Gives a whole file its name unless somebody was first (`EEXIST`), which a rename would not notice. */
async function place(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path)
  } catch (error) {
    // File systems without hard links (exFAT, some shared folders).
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    await copyFile(temporary, path, constants.COPYFILE_EXCL)
  }
}

function parseOwner(text: string): OwnerRecord {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value)) throw new Error('it is no JSON object')
  const { version, id, name, owner, created, workdir, env, layout } = value
  if (version !== 1) throw new Error(`its version ${JSON.stringify(version)} is unknown`)
  if (![id, name, created, workdir].every(isText)) throw new Error('id, name, created or workdir is missing')
  if (!isRecord(owner) || ![owner.user, owner.agent, owner.session].every(isText)) throw new Error('the owner is missing')
  if (layout !== undefined && layout !== 'workdir') throw new Error(`its layout ${JSON.stringify(layout)} is unknown`)
  if (env !== undefined && !(isRecord(env) && Object.values(env).every(isText)))
    throw new Error('env holds something else than text')
  return value as unknown as OwnerRecord
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
