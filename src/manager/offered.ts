import { basename } from 'node:path'
import type { BackendName, EnvironmentInfo } from '../backends/backend.ts'
import { userDirectory } from '../backends/host/folders.ts'
import { toWorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { DEFAULT_NAME, directoryId } from './ids.ts'
import type { Scope } from './scope.ts'
import { OPENS_DIRECTORIES, type Target } from './targets.ts'

/** A directory of the user's that the client offers to work in. */
export interface OfferedDirectory {
  /** What the client calls it; absent: the directory's own name. */
  name?: string | undefined
  directory: string
}

const MAX_OFFERED = 100

/** The directories that clients offered, by user, each a workspace under a name of its own. */
export class OfferedDirectories {
  readonly #backend: BackendName
  readonly #logger: Logger
  readonly #byUser = new Map<string, readonly Target[]>()

  constructor(backend: BackendName, logger: Logger) {
    this.#backend = backend
    this.#logger = logger
  }

  /** Replaces what was offered before. What can't be used is logged and left out, and so is what is `own`, the default one, or there twice. */
  async set({ user }: Scope, offered: readonly OfferedDirectory[], own: string): Promise<void> {
    const targets: Target[] = []
    for (const { name, directory } of OPENS_DIRECTORIES.includes(this.#backend) ? offered.slice(0, MAX_OFFERED) : []) {
      const real = await this.#real(directory)
      if (real === undefined || targets.some(({ spec }) => spec.directory === real)) continue
      const id = directoryId(this.#backend, user, real)
      if (id === own) continue
      const owner = { user, agent: '', session: '' }
      targets.push({
        backend: this.#backend,
        spec: { id, name: freeName(name || basename(real), targets), owner, directory: real },
      })
    }
    this.#byUser.set(user, targets)
  }

  /** How to open the one of an id or name. */
  find({ user }: Scope, ref: string): Target | undefined {
    return this.#of(user).find(({ spec }) => spec.id === ref || spec.name === ref)
  }

  /** Whether a directory is among them. */
  serves({ owner, directory, workdir, layout }: EnvironmentInfo): boolean {
    return layout === undefined && this.#of(owner.user).some(({ spec }) => spec.directory === (directory ?? workdir))
  }

  /** Workspaces under the names that they are offered by, and those that nobody has opened yet. */
  shown({ user }: Scope, infos: readonly EnvironmentInfo[]): EnvironmentInfo[] {
    const known = infos.map(info => this.named(info))
    const fresh = this.#of(user).filter(({ spec }) => !infos.some(info => (info.directory ?? info.workdir) === spec.directory))
    return [...known, ...fresh.map(unopened)]
  }

  /** A workspace under the name that it is offered by. */
  named(info: EnvironmentInfo): EnvironmentInfo {
    if (info.madeByAtelier || info.layout !== undefined) return info
    const target = this.#of(info.owner.user).find(({ spec }) => spec.directory === (info.directory ?? info.workdir))
    return target === undefined ? info : { ...info, name: target.spec.name }
  }

  #of(user: string): readonly Target[] {
    return this.#byUser.get(user) ?? []
  }

  async #real(directory: string): Promise<string | undefined> {
    try {
      return await userDirectory(directory)
    } catch (error) {
      this.#logger.warn({ directory, reason: toWorkspaceError(error).message }, 'an offered directory was left out')
      return undefined
    }
  }
}

/** What is known of a directory that no workspace was opened in. */
export function unopened({ backend, spec }: Target): EnvironmentInfo {
  const { id, name, owner, directory = '' } = spec
  const place = { workdir: directory, directory, root: '', madeByAtelier: false }
  return { id, backend, name, owner, state: 'suspended', createdAt: '', ...place, details: {} }
}

/** A name that may be a workspace's and that no other has. */
function freeName(wanted: string, taken: readonly Target[]): string {
  const plain = wanted
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 56)
  const base = plain === '' || plain === DEFAULT_NAME ? `root${plain === '' ? '' : `-${plain}`}` : plain
  const isTaken = (name: string): boolean => taken.some(({ spec }) => spec.name === name)
  if (!isTaken(base)) return base
  let number = 2
  while (isTaken(`${base}-${number}`)) number += 1
  return `${base}-${number}`
}
