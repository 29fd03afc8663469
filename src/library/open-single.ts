import type { BackendName } from '../backends/backend.ts'
import type { BackendSettings } from '../backends/registry.ts'
import { WorkspaceError } from '../lib/errors.ts'
import { createManager } from '../manager/manager.ts'
import { type CommonOptions, managerParts, pathOf, type ReadDefaults } from './defaults.ts'
import type { Opened } from './workspace-handle.ts'

/** The user that the `atelier` command works for unless told otherwise: programs find its workspaces, and it theirs. */
export const SINGLE_USER = 'local'

/** Options of a class that opens one workspace. */
export interface SingleOptions extends CommonOptions {
  /** A directory of yours to work in, a path or a `file:` URL; nothing of Atelier's own appears in it. */
  directory?: string | URL
  /** `workdir`: Atelier's own folders lie in `directory` itself. So a workspace of AgentScope is opened. */
  layout?: 'workdir'
  /** Name of a workspace that Atelier makes, or made before; default: `default`. Not together with `directory`. */
  name?: string
}

/** What differs between the classes. */
interface Kind {
  backend: BackendName
  /** Name of the class, for errors. */
  className: string
  settings?: BackendSettings
}

/** Opens one workspace of a backend with a manager of its own, which goes with it. */
export async function openSingle(options: SingleOptions, read: ReadDefaults, kind: Kind): Promise<Opened> {
  const { directory, name, layout } = options
  if (directory !== undefined && name !== undefined) {
    throw new WorkspaceError('invalid_argument', `${kind.className}: directory and name exclude each other.`, {
      hint: 'Give one of them.',
    })
  }
  if (layout !== undefined && directory === undefined) {
    throw new WorkspaceError('invalid_argument', `${kind.className}: layout says how a directory is used, and there is none.`, {
      hint: 'Give directory too.',
    })
  }
  const parts = managerParts(options, read, { [kind.backend]: {}, ...kind.settings })
  const manager = createManager({
    ...parts,
    defaultBackend: kind.backend,
    policy: 'per_agent',
    ...(directory === undefined ? {} : { directory: pathOf(directory) }),
    ...(layout === undefined ? {} : { layout }),
    ttlMs: Number.POSITIVE_INFINITY,
    allowSharedLocal: false,
  })
  const dispose = () => manager[Symbol.asyncDispose]()
  const scope = { user: SINGLE_USER, agent: '', session: '' }
  try {
    using lease = name === undefined ? await manager.acquire(scope) : (await manager.create(scope, { name })).lease
    return { info: lease.workspace.info, scope, manager, limits: parts.limits, logger: parts.logger, dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}
