import { BACKEND_NAMES, type Backend, type BackendName, type EnvironmentInfo, type OwnerFilter } from '../backends/backend.ts'
import { createBackends } from '../backends/registry.ts'
import { backendSettings } from '../config/backends/backend-settings.ts'
import type { Config } from '../config.ts'
import { formatMs, withLimit } from '../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import { createLogger } from '../services.ts'

const LIST_MS = 30_000

/** A backend that could not be asked, and why. */
export interface Unasked {
  backend: BackendName
  error: WorkspaceError
}

/** Backends that the configuration has, each with what loads it; one that is not configured is left out. */
export async function configuredBackends(config: Config): Promise<{ loaded: Backend[]; failed: Unasked[] }> {
  const logger = createLogger(config.logLevel).child({ part: 'backends' })
  const getters = createBackends({ dataDir: config.dataDir, logger, ...backendSettings(config) })
  const loaded: Backend[] = []
  const failed: Unasked[] = []
  for (const name of BACKEND_NAMES) {
    if (!isConfigured(config, name)) continue
    try {
      const backend = await getters.get(name)?.()
      if (backend !== undefined) loaded.push(backend)
    } catch (error) {
      failed.push({ backend: name, error: toWorkspaceError(error) })
    }
  }
  return { loaded, failed }
}

/** `local` and `docker` are for everybody; a service is one that the operator gave. */
export function isConfigured(config: Config, name: BackendName): boolean {
  return name === 'local' || name === 'docker' || backendSettings(config)[name] !== undefined
}

/** Whether the operator asked for a backend in so many words; an engine that nobody mentioned may be absent. */
export function isMeant(config: Config, name: BackendName): boolean {
  if (name !== 'docker') return true
  const { backend, dockerHost, dockerContext, image, profile, profiles } = config
  const mentioned = [dockerHost, dockerContext, image, profile].some(value => value !== undefined)
  return backend === 'docker' || mentioned || Object.keys(profiles).length > 0
}

/** Every workspace of the owners, by backend; a backend that can't be asked is told apart from one that has none. */
export async function findWorkspaces(
  config: Config,
  owner: OwnerFilter,
): Promise<{ found: EnvironmentInfo[]; failed: Unasked[] }> {
  const { loaded, failed } = await configuredBackends(config)
  const listings = await Promise.all(
    loaded.map(async backend => {
      try {
        return await listOne(backend, owner)
      } catch (error) {
        failed.push({ backend: backend.name, error: toWorkspaceError(error) })
        return []
      }
    }),
  )
  failed.sort((a, b) => BACKEND_NAMES.indexOf(a.backend) - BACKEND_NAMES.indexOf(b.backend))
  return { found: listings.flat(), failed }
}

/** All of one backend's; one that is silent holds up the others' answers for a while only. */
async function listOne(backend: Backend, owner: OwnerFilter): Promise<EnvironmentInfo[]> {
  const { name } = backend
  const late = () =>
    new WorkspaceError('timeout', `The workspaces of ${name} were not listed within ${formatMs(LIST_MS)}.`, {
      hint: `\`atelier doctor ${name}\` tells what is wrong.`,
    })
  const all = async (signal: AbortSignal) => {
    const infos: EnvironmentInfo[] = []
    for await (const info of backend.list(owner, { signal })) infos.push(info)
    return infos
  }
  return withLimit(all, { ms: LIST_MS, late })
}

/** The workspaces that ids and names mean. Throws `not_found` and `invalid_argument` for those that mean none, or several. */
export async function resolveWorkspaces(config: Config, refs: readonly string[], owner: OwnerFilter): Promise<EnvironmentInfo[]> {
  const { found, failed } = await findWorkspaces(config, owner)
  return refs.map(ref => {
    const meant = found.filter(info => info.id === ref || info.name === ref)
    if (meant.length === 1 && meant[0] !== undefined) return meant[0]
    if (meant.length > 1)
      throw new WorkspaceError('invalid_argument', `${meant.length} workspaces are called ${JSON.stringify(ref)}.`, {
        hint: `Name one by its id: ${meant.map(info => `${info.id} (${info.backend})`).join(', ')}.`,
      })
    const unasked = failed.map(({ backend, error }) => ` The backend ${backend} could not be asked: ${error.message}`).join('')
    throw new WorkspaceError('not_found', `There is no workspace ${JSON.stringify(ref)}.${unasked}`, {
      hint: '`atelier ls` shows the ids and names.',
    })
  })
}
