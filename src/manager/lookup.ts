import type { Backend, BackendName, EnvironmentInfo } from '../backends/backend.ts'
import { type ErrorCode, toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { isId, namedId } from './ids.ts'
import { mayUse, noSuchWorkspace } from './ownership.ts'
import type { IsolationPolicy, Scope } from './scope.ts'

export interface LookupOptions {
  backends: ReadonlyMap<BackendName, () => Promise<Backend>>
  defaultBackend: BackendName
  policy: IsolationPolicy
  /** Whether a directory that the user already had is one that this server serves. */
  serves(info: EnvironmentInfo): Promise<boolean>
  logger: Logger
}

type Call = { signal?: AbortSignal | undefined }

/** Finds workspaces by the backends' own labels; there is no other index. */
export interface Lookup {
  all(scope: Scope, call?: Call): Promise<EnvironmentInfo[]>
  /** By id or name; throws `not_found` alike for none and for somebody else's. */
  one(scope: Scope, ref: string, call?: Call): Promise<EnvironmentInfo>
  /** By id alone, whoever owns it. */
  byId(backend: BackendName, id: string, call?: Call): Promise<EnvironmentInfo | undefined>
}

/** A look-up over all backends of this version. One that fails is reported, and never taken for one that found nothing. */
export function createLookup(options: LookupOptions): Lookup {
  const { policy } = options
  const names = [options.defaultBackend, ...[...options.backends.keys()].filter(name => name !== options.defaultBackend)]
  const visible = async (scope: Scope, info: EnvironmentInfo) =>
    mayUse(policy, scope, info) && (info.madeByAtelier || (await options.serves(info)))

  const backendOf = (name: BackendName) => loadBackend(options.backends, name)
  const byId: Lookup['byId'] = async (name, id, call) => (await backendOf(name)).find(id, call)

  const all: Lookup['all'] = async (scope, call) => {
    const found: EnvironmentInfo[] = []
    for (const name of names) {
      try {
        for await (const info of (await backendOf(name)).list({ user: scope.user }, call)) {
          if (await visible(scope, info)) found.push(info)
        }
      } catch (error) {
        if (name === options.defaultBackend) throw toWorkspaceError(error)
        report(options.logger, name, error)
      }
    }
    return found
  }

  const known = async (scope: Scope, ref: string, call?: Call) => {
    let failure: WorkspaceError | undefined
    const unasked: string[] = []
    for (const name of names) {
      try {
        const info = await byId(name, isId(ref) ? ref : namedId(policy, name, scope, ref), call)
        if (info !== undefined && (await visible(scope, info))) return info
      } catch (error) {
        if (isMissing(error)) continue
        if (name === options.defaultBackend || !isUnreachable(error)) failure ??= toWorkspaceError(error)
        else unasked.push(`The backend ${name} could not be asked: ${toWorkspaceError(error).message}`)
      }
    }
    if (failure !== undefined) throw failure
    return unasked
  }

  return {
    all,
    byId,
    async one(scope, ref, call) {
      const info = await known(scope, ref, call)
      if (!Array.isArray(info)) return info
      // Made under another policy: its name is a label, its id another hash.
      const same = isId(ref) ? [] : (await all(scope, call)).filter(each => each.name === ref)
      if (same.length > 1) throw ambiguous(ref, same)
      if (same[0] === undefined) throw noSuchWorkspace(ref, info)
      return same[0]
    },
  }
}

/** The backends that calls may use: not this host itself, where the operator chose another place and did not open it. */
export function openBackends({
  backends,
  defaultBackend,
  allowLocal = false,
}: Pick<LookupOptions, 'backends' | 'defaultBackend'> & { allowLocal?: boolean }): LookupOptions['backends'] {
  if (allowLocal || defaultBackend === 'local') return backends
  return new Map([...backends].filter(([name]) => name !== 'local'))
}

/** The backend of a name; `unsupported` when this server has none, `permission_denied` for this host where it is not open. */
export async function loadBackend(backends: LookupOptions['backends'], name: BackendName): Promise<Backend> {
  const load = backends.get(name)
  if (load !== undefined) return load()
  if (name === 'local') {
    throw new WorkspaceError('permission_denied', 'The backend local is the host itself, and is not open to calls here.', {
      hint: `Use ${[...backends.keys()].join(' or ')}, or ask the operator for allowLocal.`,
    })
  }
  throw new WorkspaceError('unsupported', `This server has no backend ${JSON.stringify(name)}.`, {
    hint: `It has: ${[...backends.keys()].join(', ')}.`,
  })
}

function ambiguous(ref: string, infos: readonly EnvironmentInfo[]): WorkspaceError {
  return new WorkspaceError('invalid_argument', `${infos.length} workspaces are called ${JSON.stringify(ref)}.`, {
    hint: `Name one by its id: ${infos.map(info => info.id).join(', ')}.`,
  })
}

/** Whether a backend can't be had at all (not in this version, package not installed): then it holds nothing either. */
function isMissing(error: unknown): boolean {
  return error instanceof WorkspaceError && error.code === 'unsupported'
}

/** What says that a backend could not be asked, as an engine that nobody started or a key that was withdrawn. */
const UNASKED: ReadonlySet<ErrorCode> = new Set([
  'unavailable',
  'permission_denied',
  'unauthenticated',
  'limit_exceeded',
  'timeout',
])

function isUnreachable(error: unknown): boolean {
  return error instanceof WorkspaceError && UNASKED.has(error.code)
}

function report(logger: Logger, backend: BackendName, error: unknown): void {
  const fields = { backend, reason: toWorkspaceError(error).message }
  if (isMissing(error)) logger.debug(fields, 'backend left out of the list')
  else logger.warn(fields, 'workspaces of this backend could not be listed')
}
