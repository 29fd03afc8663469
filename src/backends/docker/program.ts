import type Dockerode from 'dockerode'
import type { UploadFile } from '../backend.ts'
import { type ArchiveEntry, firstFile, packEntries } from '../host/archive.ts'
import { engineError, statusOf } from './errors.ts'
import type { NodeRuntime } from './node-runtime.ts'

/** A volume of the container's own: it can be written and executed from whatever the root file system allows. */
export const PROGRAM_FOLDER = '/opt/atelier'
export const HOME = `${PROGRAM_FOLDER}/home`
export const NODE = `${PROGRAM_FOLDER}/node`
/** Private folder of the gateway, with its socket. */
export const RUNTIME_FOLDER = `${PROGRAM_FOLDER}/run`

export interface ContainerUser {
  uid: number
  gid: number
}

/** Puts the gateway's folders and files, and a node or a link to one, into a container that is not running. */
export async function putProgram(
  container: Dockerode.Container,
  what: { user: ContainerUser; files: readonly UploadFile[]; node?: NodeRuntime },
): Promise<void> {
  const { user, files, node } = what
  const folder = (path: string): ArchiveEntry => ({ path, mode: 0o700, ...user, content: { directory: true } })
  const entries: ArchiveEntry[] = [
    folder('run/'),
    folder('home/'),
    ...files.map(({ path, data, mode }) => ({ path, mode, content: { bytes: data } })),
    ...(node === undefined ? [] : [nodeEntry(node)]),
  ]
  await putEntries(container, PROGRAM_FOLDER, entries)
}

function nodeEntry(node: NodeRuntime): ArchiveEntry {
  const content = 'inside' in node ? { link: node.inside } : node
  return { path: 'node', mode: 0o755, content }
}

/** Extracts entries below a folder that is there. */
export async function putEntries(
  container: Dockerode.Container,
  folder: string,
  entries: readonly ArchiveEntry[],
): Promise<void> {
  const archive = packEntries(entries)
  try {
    await container.putArchive(archive, { path: folder, noOverwriteDirNonDir: 'true' })
  } catch (error) {
    throw engineError(error, `Writing to ${folder} in the container`)
  } finally {
    archive.destroy()
  }
}

/** Numbers of a user as the engine knows it: empty, `name`, `uid` or `uid:gid`; a name is looked up in the container. */
export async function resolveUser(container: Dockerode.Container, user: string): Promise<ContainerUser> {
  const [name = '', group] = user.split(':')
  if (name === '' || /^\d+$/.test(name)) {
    const uid = Number(name)
    const gid = group !== undefined && /^\d+$/.test(group) ? Number(group) : uid
    return { uid, gid }
  }
  const line = (await passwd(container)).split('\n').find(each => each.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  // An unknown name fails at the start, in the engine's own words.
  return { uid: Number(uid ?? 0), gid: Number(gid ?? 0) }
}

const PASSWD_BYTES = 1024 ** 2

async function passwd(container: Dockerode.Container): Promise<string> {
  try {
    const archive = await container.getArchive({ path: '/etc/passwd' })
    return (await firstFile(archive, () => true, PASSWD_BYTES))?.toString() ?? ''
  } catch (error) {
    if (statusOf(error) === 404) return ''
    throw engineError(error, 'Reading /etc/passwd in the container')
  }
}
