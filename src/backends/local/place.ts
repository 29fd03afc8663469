import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { EnvironmentSpec } from '../backend.ts'
import { userDirectory } from '../host/folders.ts'
import { rootFolder } from '../host/layout.ts'
import { namedFolder } from './layout.ts'

/** Where a local workspace lies on the host. */
export interface Place {
  workdir: string
  /** Where the owner file is, and Atelier's own folders unless the layout says otherwise. */
  root: string
  madeByAtelier: boolean
}

/** The place that `spec` asks for. A directory of the user's must be there already; nothing is made. */
export async function placeOf(dataDir: string, spec: EnvironmentSpec): Promise<Place> {
  if (spec.directory === undefined) {
    const workdir = namedFolder(dataDir, spec)
    return { workdir, root: workdir, madeByAtelier: true }
  }
  const workdir = await userDirectory(spec.directory)
  return { workdir, root: rootFolder(dataDir, spec.owner.user, workdir, spec.layout), madeByAtelier: false }
}

/** Takes back an `.atelier` folder that holds nothing yet. */
export async function removeEmptyOwnFolder(root: string): Promise<void> {
  await rmdir(join(root, '.atelier')).catch(() => {})
}
