import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { EnvironmentInfo } from '../backend.ts'
import { rootFolder, rootsFolder } from '../host/layout.ts'
import { idTail, namedFolder, workspacesFolder } from './layout.ts'
import { type OwnerRecord, ownerFile, readOwner } from './owner-file.ts'
import { answers, runtimeDir, socketPath } from './runtime-dir.ts'

export interface LocalPlace {
  dataDir: string
  runtimeBase?: string | undefined
  logger: Logger
}

/** Every local workspace below the data directory. A bad owner file is logged and its workspace left out. */
export async function* enumerate(place: LocalPlace): AsyncIterable<EnvironmentInfo> {
  for await (const root of roots(place.dataDir)) {
    const info = await infoAt(place, root)
    if (info !== undefined) yield info
  }
}

/** The local workspace with this id, wherever it lies. */
export async function lookUp(place: LocalPlace, id: string): Promise<EnvironmentInfo | undefined> {
  const tail = `-${idTail(id)}`
  for await (const root of roots(place.dataDir, folder => folder.endsWith(tail))) {
    const info = await infoAt(place, root)
    if (info?.id === id) return info
  }
  return undefined
}

/** What an owner record says, with the state of now. */
export async function describe(place: LocalPlace, root: string, record: OwnerRecord): Promise<EnvironmentInfo> {
  const socket = socketPath(runtimeDir(place, record.id))
  const madeByAtelier = root === record.workdir
  const there =
    madeByAtelier ||
    (await stat(record.workdir).then(
      found => found.isDirectory(),
      () => false,
    ))
  const running = await answers(socket)
  return {
    id: record.id,
    backend: 'local',
    name: record.name,
    owner: record.owner,
    state: !there ? 'gone' : running ? 'running' : 'suspended',
    createdAt: record.created,
    workdir: record.workdir,
    root: record.layout === 'workdir' ? record.workdir : root,
    madeByAtelier,
    socket,
    ...(record.layout === undefined ? {} : { layout: record.layout }),
    ...(record.env === undefined ? {} : { env: record.env }),
    details: {},
  }
}

/** The info of one root, or `undefined` after a line in the log. What stands in the file must fit where the file stands. */
async function infoAt(place: LocalPlace, root: string): Promise<EnvironmentInfo | undefined> {
  try {
    const record = await readOwner(root)
    if (record === undefined) return undefined
    const named = namedFolder(place.dataDir, record)
    const { owner, workdir, layout } = record
    const fits = root === named ? workdir === named : root === rootFolder(place.dataDir, owner.user, workdir, layout)
    if (!fits) throw new Error('it belongs to another place')
    return await describe(place, root, record)
  } catch (error) {
    place.logger.warn({ file: ownerFile(root), reason: toWorkspaceError(error).message }, 'owner file skipped')
    return undefined
  }
}

async function* roots(dataDir: string, wanted: (folder: string) => boolean = () => true): AsyncIterable<string> {
  for (const user of await folders(workspacesFolder(dataDir))) {
    for (const folder of await folders(join(workspacesFolder(dataDir), user))) {
      if (wanted(folder)) yield join(workspacesFolder(dataDir), user, folder)
    }
  }
  for (const folder of await folders(rootsFolder(dataDir))) yield join(rootsFolder(dataDir), folder)
}

async function folders(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.filter(entry => entry.isDirectory() && !entry.name.startsWith('.')).map(entry => entry.name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
