import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import type { DockerSettings, DockerVariables } from './settings.ts'

/** Where an engine is, and how it was found. */
export interface Endpoint {
  /** In the form of `DOCKER_HOST`. */
  address: string
  /** What named it, for people. */
  source: string
  /** Folder with `ca.pem`, `cert.pem` and `key.pem`; absent: no TLS. */
  tlsFolder?: string
  /** Whether the server's certificate is checked: always, but for a context that says otherwise. */
  verify: boolean
}

/** Whether an engine sees this host's directories. */
export function isLocal({ address }: Pick<Endpoint, 'address'>): boolean {
  return /^(unix|npipe):/.test(address)
}

type Step = (settings: DockerSettings, env: DockerVariables) => Endpoint | undefined

/** In this order, as the docker command has it; the operator's own settings come first. */
const STEPS: readonly Step[] = [
  ({ host }, env) => (host === undefined ? undefined : fromHost(host, 'dockerHost', env)),
  ({ context }, env) => (context === undefined ? undefined : fromContext(context, 'dockerContext', env)),
  (_, env) => (env.DOCKER_HOST ? fromHost(env.DOCKER_HOST, 'DOCKER_HOST', env) : undefined),
  (_, env) => (env.DOCKER_CONTEXT ? fromContext(env.DOCKER_CONTEXT, 'DOCKER_CONTEXT', env) : undefined),
  (_, env) => {
    const current = currentContext(env)
    return current === undefined ? undefined : fromContext(current, 'the current context', env)
  },
  (_, env) => defaultSocket(env),
]

/** The engine to use: from the settings, then the docker command's own variables and contexts, then the usual sockets. */
export function findEndpoint(settings: DockerSettings): Endpoint {
  const env = settings.env ?? {}
  for (const step of STEPS) {
    const found = step(settings, env)
    if (found !== undefined) return found
  }
  throw new WorkspaceError('internal', 'No engine address was chosen.')
}

function fromHost(host: string, source: string, env: DockerVariables): Endpoint {
  const tls = env.DOCKER_CERT_PATH || (env.DOCKER_TLS_VERIFY ? configFolder(env) : undefined)
  const address = host.includes('://') ? host : `tcp://${host}`
  return { address, source, verify: true, ...(tls === undefined || !address.startsWith('tcp:') ? {} : { tlsFolder: tls }) }
}

/** The name `default` means: as if there were no contexts. */
function fromContext(name: string, source: string, env: DockerVariables): Endpoint | undefined {
  if (name === 'default') return undefined
  const id = createHash('sha256').update(name).digest('hex')
  const folder = configFolder(env)
  const path = join(folder ?? '', 'contexts', 'meta', id, 'meta.json')
  const meta = folder === undefined ? undefined : readJson(path)
  const docker = (meta?.Endpoints as Record<string, { Host?: string; SkipTLSVerify?: boolean }> | undefined)?.docker
  if (docker?.Host === undefined) {
    throw new WorkspaceError('invalid_argument', `The docker context ${JSON.stringify(name)} (${source}) is not in ${path}.`, {
      hint: '`docker context ls` shows those that there are.',
    })
  }
  const tls = join(folder ?? '', 'contexts', 'tls', id, 'docker')
  return {
    address: docker.Host,
    source: `${source} ${name}`,
    verify: docker.SkipTLSVerify !== true,
    ...(existsSync(tls) ? { tlsFolder: tls } : {}),
  }
}

function currentContext(env: DockerVariables): string | undefined {
  const folder = configFolder(env)
  const current = folder === undefined ? undefined : readJson(join(folder, 'config.json'))?.currentContext
  return typeof current === 'string' && current !== '' ? current : undefined
}

function defaultSocket({ HOME, XDG_RUNTIME_DIR }: DockerVariables): Endpoint {
  if (process.platform === 'win32') {
    return { address: 'npipe:////./pipe/docker_engine', source: 'the default pipe', verify: true }
  }
  const places = [
    ...(XDG_RUNTIME_DIR ? [join(XDG_RUNTIME_DIR, 'docker.sock')] : []),
    ...(HOME ? [join(HOME, '.docker/run/docker.sock')] : []),
  ]
  const path = places.find(existsSync) ?? '/var/run/docker.sock'
  return { address: `unix://${path}`, source: 'the default socket', verify: true }
}

function configFolder({ DOCKER_CONFIG, HOME }: DockerVariables): string | undefined {
  return DOCKER_CONFIG || (HOME ? join(HOME, '.docker') : undefined)
}

function readJson(path: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new WorkspaceError('invalid_argument', `${path} can't be read: ${(error as Error).message}.`, { cause: error })
  }
}
