import type { BackendName, EnvironmentInfo, EnvironmentSpec } from '../backends/backend.ts'
import { userDirectory } from '../backends/host/folders.ts'
import { withDeadline } from '../lib/deadline.ts'
import { WorkspaceError } from '../lib/errors.ts'
import { DEFAULT_NAME, directoryId, namedId } from './ids.ts'
import type { IsolationPolicy, Scope } from './scope.ts'

/** What to open: which backend, and what to ask of it. */
export interface Target {
  backend: BackendName
  spec: EnvironmentSpec
}

export interface TargetOptions {
  defaultBackend: BackendName
  policy: IsolationPolicy
  directory?: string | undefined
  /** How the directory is laid out. */
  layout?: 'workdir' | undefined
}

/** Backends that can work in a directory of this host. */
export const OPENS_DIRECTORIES: readonly BackendName[] = ['local', 'docker']

/** A directory on a file system that does not answer must not hold a server for ever. */
const RESOLVE_MS = 30_000

/** Which workspace a scope means when it names none, or a name that is new. */
export class Targets {
  readonly #options: TargetOptions
  #directory: Promise<string> | undefined
  /** Id of the directory for the user who asked last. */
  #last: { user: string; real: string; id: string } | undefined

  constructor(options: TargetOptions) {
    this.#options = options
  }

  /**
   * The default workspace: the directory that this server was started for, else one that Atelier makes for the scope. Where a backend
   * can't open a directory of this host, each directory has a workspace of its own that begins empty.
   */
  async default(scope: Scope): Promise<Target> {
    const { directory, layout, defaultBackend: backend } = this.#options
    if (layout !== undefined && !OPENS_DIRECTORIES.includes(backend)) throw noLayout(layout, backend)
    if (directory === undefined) return this.named(scope, backend, DEFAULT_NAME)
    const real = await this.#realDirectory(directory)
    const owner = { user: scope.user, agent: '', session: '' }
    const id = this.#idOf(backend, scope.user, real)
    const spec = { id, name: DEFAULT_NAME, owner }
    if (!OPENS_DIRECTORIES.includes(backend)) return { backend, spec }
    return { backend, spec: { ...spec, directory: real, ...given({ layout }) } }
  }

  /** A workspace that Atelier makes under a name. */
  named({ user, agent, session }: Scope, backend: BackendName, name: string): Target {
    const owner = { user, agent, session }
    return { backend, spec: { id: namedId(this.#options.policy, backend, owner, name), name, owner } }
  }

  /** Whether a directory that the user already had is the one that this server was started for. */
  async serves(info: EnvironmentInfo): Promise<boolean> {
    const { directory, layout } = this.#options
    if (directory === undefined || info.layout !== layout) return false
    return (info.directory ?? info.workdir) === (await this.#realDirectory(directory))
  }

  #idOf(backend: BackendName, user: string, real: string): string {
    const { layout } = this.#options
    if (this.#last?.user !== user || this.#last.real !== real)
      this.#last = { user, real, id: directoryId(backend, user, real, layout) }
    return this.#last.id
  }

  #realDirectory(directory: string): Promise<string> {
    this.#directory ??= withDeadline(userDirectory(directory), RESOLVE_MS, `Opening the directory ${directory}`).catch(error => {
      this.#directory = undefined
      throw error
    })
    return this.#directory
  }
}

function noLayout(layout: string, backend: BackendName): WorkspaceError {
  return new WorkspaceError(
    'unsupported',
    `The layout "${layout}" is one of a directory of this host, and backend ${backend} opens none.`,
    { hint: `Leave the layout out, or choose one of the backends ${OPENS_DIRECTORIES.join(' and ')}.` },
  )
}

/** How to open a workspace that is there. */
export function targetOf(info: EnvironmentInfo): Target {
  const { backend, id, name, owner, env, madeByAtelier, layout } = info
  const directory = madeByAtelier ? undefined : (info.directory ?? info.workdir)
  return { backend, spec: { id, name, owner, ...given({ env, directory, layout }) } }
}

/** The properties that have a value. */
export function given<T extends object>(properties: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
