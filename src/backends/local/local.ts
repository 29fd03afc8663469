import { resolve } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { Backend, Environment, EnvironmentSpec } from '../backend.ts'
import { makeFolder, realDataDir } from '../host/folders.ts'
import { belongsTo } from '../owner-filter.ts'
import { describe, enumerate, type LocalPlace, lookUp } from './catalogue.ts'
import { createLocalEnvironment } from './environment.ts'
import { claimOwner, type OwnerRecord, ownerFile, readOwner } from './owner-file.ts'
import { type Place, placeOf, removeEmptyOwnFolder } from './place.ts'
import { probeLocal } from './probe.ts'
import { ensureRuntimeDir, runtimeDir } from './runtime-dir.ts'

export interface LocalBackendOptions {
  /** Where Atelier keeps named workspaces and its own folders. Made when first needed. */
  dataDir: string
  /** Where sockets live; absent: the login session's runtime directory, else the temporary directory. */
  runtimeBase?: string
  logger: Logger
}

/**
 * Directories on this host. It is no sandbox: commands run as the host's user. A directory that Atelier makes lies below the
 * data directory and can be destroyed; in one that the user already had nothing is written
 * unless asked for (`layout`), and it can't be.
 */
export function createLocalBackend(options: LocalBackendOptions): Backend {
  const { runtimeBase, logger } = options
  const here = async (): Promise<LocalPlace> => ({ dataDir: await realDataDir(resolve(options.dataDir)), runtimeBase, logger })
  return {
    name: 'local',
    async provision(spec, call) {
      if (call?.signal?.aborted) throw new WorkspaceError('cancelled', `Workspace ${spec.name}: cancelled before it was made.`)
      const place = await here()
      return provision(place, spec, await placeOf(place.dataDir, spec))
    },
    find: async id => lookUp(await here(), id),
    async *list(filter) {
      for await (const info of enumerate(await here())) if (belongsTo(info, filter)) yield info
    },
    probe: async call => probeLocal(await here(), call),
  }
}

async function provision(place: LocalPlace, spec: EnvironmentSpec, target: Place): Promise<Environment> {
  const { root, workdir, madeByAtelier } = target
  const takeBack = await makeFolder(root)
  try {
    const found = await readOwner(root)
    // The runtime directory comes first: once the owner file stands, the workspace is there for everybody.
    const runtime = runtimeDir(place, found?.id ?? spec.id)
    await ensureRuntimeDir(runtime)
    const record = found ?? (await claimOwner(root, newRecord(spec, workdir)))
    if (record.owner.user !== spec.owner.user) throw new Error('it belongs to another user')
    // A user's directory is what it is by its path: whoever asks with another id gets the one that it has.
    if (madeByAtelier && record.id !== spec.id) throw new Error(`it names ${record.id}`)
    if (record.workdir !== workdir) throw new Error(`it names the directory ${record.workdir}`)
    return createLocalEnvironment(await describe(place, root, record), { dataDir: place.dataDir, runtime })
  } catch (error) {
    await removeEmptyOwnFolder(root)
    await takeBack()
    throw unusable(root, error)
  }
}

function newRecord(spec: EnvironmentSpec, workdir: string): OwnerRecord {
  const { id, name, owner, env, layout } = spec
  const more = { ...(layout === undefined ? {} : { layout }), ...(env === undefined ? {} : { env }) }
  return { version: 1, id, name, owner, created: new Date().toISOString(), workdir, ...more }
}

function unusable(root: string, error: unknown): WorkspaceError {
  if (error instanceof WorkspaceError) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') return new WorkspaceError('no_space', `${root}: ${message}.`, { cause: error })
  if (code !== undefined) return new WorkspaceError('permission_denied', `${root} can't be used: ${message}.`, { cause: error })
  return new WorkspaceError('precondition_failed', `${ownerFile(root)} does not describe this workspace: ${message}.`, {
    hint: 'Correct or remove that file; the other files there are untouched.',
    cause: error,
  })
}
