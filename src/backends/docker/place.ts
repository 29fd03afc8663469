import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type Dockerode from 'dockerode'
import { makeFolder, userDirectory } from '../host/folders.ts'
import { rootFolder } from '../host/layout.ts'
import { claimOwner, removeOwner, workspaceFolder, workspacesFolder } from './owner-file.ts'
import { type DockerRecord, labelsOf } from './record.ts'

export const WORKDIR = '/workspace'
const OWN_ROOT = '/atelier'

/** Where Atelier's own folders are, as seen inside. */
export function rootInside({ keep, layout }: Pick<DockerRecord, 'keep' | 'layout'>): string {
  return keep === 'own' && layout === undefined ? OWN_ROOT : WORKDIR
}

/** Host directory that is mounted at `/workspace`; `undefined` where none is. */
export function hostDirectory(dataDir: string, record: DockerRecord): string | undefined {
  if (record.keep === 'bound') return join(workspaceFolder(dataDir, record.id), 'workspace')
  return record.keep === 'own' ? record.directory : undefined
}

/** Host directories that the container may leave files in. */
export function hostDirectories(dataDir: string, record: DockerRecord): string[] {
  const directory = hostDirectory(dataDir, record)
  if (directory === undefined) return []
  return rootInside(record) === OWN_ROOT ? [directory, rootFolder(dataDir, record.owner.user, directory)] : [directory]
}

/** Name of the volume that holds a workspace's files on an engine elsewhere. */
export function volumeName(id: string): string {
  return `atelier-${id}`
}

/** What a container gets mounted, with what takes back the folders that were made for it and are still unused. */
export interface PreparedPlace {
  /** The record that counts: another host may have been first. */
  record: DockerRecord
  mounts: Dockerode.MountSettings[]
  takeBack(): Promise<void>
}

interface PlaceOptions {
  dataDir: string
  /** The data directory as labels have it. */
  scope: string
  /** Whether the container's user is somebody else than the owner of a folder. */
  foreign(ownerUid: number): boolean
}

/** Makes the folders of a workspace, or finds them, and says what to mount. */
export function preparePlace(record: DockerRecord, options: PlaceOptions): Promise<PreparedPlace> {
  if (record.keep === 'bound') return prepareBound(record, options)
  return record.keep === 'own' ? prepareOwn(record, options) : prepareInEngine(record, options)
}

async function prepareBound(wanted: DockerRecord, { dataDir, foreign }: PlaceOptions): Promise<PreparedPlace> {
  const source = join(workspaceFolder(dataDir, wanted.id), 'workspace')
  const removeFolders = await makeFolder(source)
  const { record, made } = await claimOwner(dataDir, wanted)
  await openTo(foreign, source)
  const takeBack = async () => {
    if (made) await removeOwner(dataDir, wanted.id)
    await removeFolders()
  }
  return { record, mounts: [bind(source, WORKDIR)], takeBack }
}

async function prepareOwn(wanted: DockerRecord, { dataDir, foreign }: PlaceOptions): Promise<PreparedPlace> {
  const source = await userDirectory(wanted.directory ?? '')
  const root = rootInside(wanted) === OWN_ROOT ? rootFolder(dataDir, wanted.owner.user, source) : undefined
  const removeRoot = root === undefined ? async () => {} : await makeFolder(root)
  const removeFolder = await makeFolder(workspaceFolder(dataDir, wanted.id))
  const { record, made } = await claimOwner(dataDir, { ...wanted, directory: source })
  if (root !== undefined) await openTo(foreign, root)
  const takeBack = async () => {
    if (made) await removeOwner(dataDir, wanted.id)
    await removeFolder()
    await removeRoot()
  }
  return { record, mounts: [bind(source, WORKDIR), ...(root === undefined ? [] : [bind(root, OWN_ROOT)])], takeBack }
}

/** Lets the container's user write to a folder of ours; those around it are open to this host's user alone. */
async function openTo(foreign: PlaceOptions['foreign'], folder: string): Promise<void> {
  const { uid, mode } = await stat(folder)
  if (foreign(uid) && (mode & 0o777) !== 0o777) await chmod(folder, 0o777)
}

async function prepareInEngine(record: DockerRecord, { dataDir, scope }: PlaceOptions): Promise<PreparedPlace> {
  const takeBack = await makeFolder(workspacesFolder(dataDir))
  const volume = { Source: volumeName(record.id), VolumeOptions: { Labels: labelsOf(record, scope) } }
  const mount = { Type: 'volume', Target: WORKDIR, ...(record.keep === 'volume' ? volume : {}) }
  return { record, mounts: [mount as Dockerode.MountSettings], takeBack }
}

function bind(source: string, target: string): Dockerode.MountSettings {
  return { Type: 'bind', Source: source, Target: target }
}
