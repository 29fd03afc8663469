import { WorkspaceError } from '../../lib/errors.ts'

/** What the operator decides about containers. Everything is optional; an agent may only name a profile. */
export interface DockerProfile {
  /** `image`: the image's own; `host`: the user of this process; else `name`, `uid` or `uid:gid`. Default: `image`. */
  user?: string
  env?: Record<string, string>
  /** CPUs, in whole or part. */
  cpus?: number
  /** Memory limit in bytes; there is no swap beside it. */
  memoryBytes?: number
  /** Processes and threads at most. */
  pids?: number
  /** `none`, `bridge`, `host` or a network of the engine. */
  network?: string
  /** Further directories of the host. */
  mounts?: readonly { source: string; target: string; readOnly?: boolean }[]
  /** An init that reaps orphans as the first process; default: yes. */
  init?: boolean
  readOnlyRoot?: boolean
  capDrop?: readonly string[]
  /** Such as `no-new-privileges`. */
  securityOpt?: readonly string[]
  /** Mount options by path. */
  tmpfs?: Record<string, string>
  /** Files live and die with the container, which is kept stopped until the workspace is deleted. */
  ephemeral?: boolean
}

export const DEFAULT_PROFILE = 'default'
const HARDENED = 'hardened'

const BUILT_IN: Readonly<Record<string, DockerProfile>> = {
  [DEFAULT_PROFILE]: {},
  host: { user: 'host' },
  [HARDENED]: {
    user: 'host',
    capDrop: ['ALL'],
    securityOpt: ['no-new-privileges'],
    readOnlyRoot: true,
    tmpfs: { '/tmp': 'rw,exec,nosuid,nodev,mode=1777', '/run': 'rw,noexec,nosuid,nodev,mode=1777' },
    pids: 1024,
  },
}

export interface Profiles {
  /** Of new containers unless a call names another. */
  fallback: string
  get(name: string): DockerProfile
  /** Throws `permission_denied` unless a call may choose `name`: the default, the operator's own, and `hardened`. */
  check(name: string): void
}

/** The profiles in force; an own one replaces a built-in one of its name. Throws `invalid_argument` for a bad default. */
export function createProfiles(own: Readonly<Record<string, DockerProfile>> = {}, fallback = DEFAULT_PROFILE): Profiles {
  const all: Readonly<Record<string, DockerProfile>> = { ...BUILT_IN, ...own }
  const open = [...new Set([fallback, HARDENED, ...Object.keys(own)])]
  const get = (name: string): DockerProfile => {
    const found = Object.hasOwn(all, name) ? all[name] : undefined
    if (found !== undefined) return found
    throw new WorkspaceError('invalid_argument', `There is no profile ${JSON.stringify(name)}.`, {
      hint: `There are: ${Object.keys(all).join(', ')}.`,
    })
  }
  get(fallback)
  return {
    fallback,
    get,
    check(name) {
      get(name)
      if (open.includes(name)) return
      throw new WorkspaceError('permission_denied', `The profile ${JSON.stringify(name)} is not open to calls here.`, {
        hint: `Allowed are: ${open.join(', ')}.`,
      })
    },
  }
}
