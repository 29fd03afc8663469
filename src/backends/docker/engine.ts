import { existsSync, readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import type Dockerode from 'dockerode'
import { formatMs, withLimit } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import { importSdk } from '../import-sdk.ts'
import { abortable } from './abortable.ts'
import { type Endpoint, findEndpoint, isLocal } from './endpoint.ts'
import { engineError } from './errors.ts'
import type { DockerSettings } from './settings.ts'
import { createSshAgent } from './ssh-agent.ts'

/** What is read of `docker info`. */
interface EngineInfo {
  SecurityOptions?: string[]
  ServerVersion: string
}

/** An engine that says nothing for this long is none. */
const ANSWER_MS = 30_000

/** An engine that answered. */
export interface Engine {
  docker: Dockerode
  address: string
  /** Whether it sees this host's directories. */
  local: boolean
  /** An engine of an ordinary user: root in a container is that user. */
  rootless: boolean
  /** Root in a container is somebody else on the host. */
  userNamespace: boolean
  version: string
}

/** Loads the client, finds the engine and asks what it is; nothing is read from this process's own environment. */
export async function connectEngine(settings: DockerSettings): Promise<Engine> {
  const endpoint = findEndpoint(settings)
  const path = /^unix:\/\/(.*)$/.exec(endpoint.address)?.[1]
  if (path !== undefined && !existsSync(path)) throw noSocket(endpoint, path)
  const sdk = await importSdk<{ default: typeof Dockerode }>('docker', 'dockerode', () => import('dockerode'))
  const what = `The engine at ${endpoint.address} (${endpoint.source})`
  const late = () => new WorkspaceError('unavailable', `${what} did not answer within ${formatMs(ANSWER_MS)}.`)
  try {
    const docker = new sdk.default(clientOptions(endpoint))
    const ask = docker.info.bind(docker) as (options: object) => Promise<EngineInfo>
    const info = await withLimit(signal => ask(abortable(signal)), { ms: ANSWER_MS, late })
    const security = info.SecurityOptions ?? []
    return {
      docker,
      address: endpoint.address,
      local: isLocal(endpoint),
      rootless: security.some(option => option.includes('name=rootless')),
      userNamespace: security.some(option => option.includes('name=userns')),
      version: info.ServerVersion,
    }
  } catch (error) {
    throw engineError(error, what, endpoint)
  }
}

/** All options explicitly: what is missing here, the client would take from the process's environment. */
export function clientOptions(endpoint: Endpoint): Dockerode.DockerOptions {
  const { address, tlsFolder, verify } = endpoint
  const none = { host: undefined, port: undefined, ca: undefined, cert: undefined, key: undefined, timeout: undefined }
  const socket = /^(unix|npipe):\/\/(.*)$/.exec(address)
  if (socket !== null) return { ...none, protocol: 'http', socketPath: socket[2] } as Dockerode.DockerOptions
  if (!URL.canParse(address)) badAddress(endpoint)
  const url = new URL(address)
  if (url.hostname === '') badAddress(endpoint)
  if (!['tcp:', 'http:', 'https:', 'ssh:'].includes(url.protocol)) badAddress(endpoint)
  const tls = tlsFolder !== undefined || url.protocol === 'https:'
  if (url.protocol === 'ssh:') {
    return { ...none, protocol: 'http', host: 'docker', agent: createSshAgent(url) } as Dockerode.DockerOptions
  }
  const port = Number(url.port) || (tls ? 2376 : 2375)
  const at = { ...none, host: url.hostname, port, ...(tlsFolder === undefined ? {} : certificates(tlsFolder, verify)) }
  return { ...at, protocol: tls ? 'https' : 'http', pathPrefix: url.pathname } as Dockerode.DockerOptions
}

function certificates(folder: string, verify: boolean): object {
  const read = (name: string): string | undefined => {
    try {
      return readFileSync(join(folder, name), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw new WorkspaceError('permission_denied', `${join(folder, name)} can't be read: ${(error as Error).message}.`)
    }
  }
  const unchecked = verify ? {} : { agent: new Agent({ keepAlive: true, rejectUnauthorized: false }) }
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem'), ...unchecked }
}

/** Told before the client is loaded: a host without an engine is the usual case where another backend is in use. */
function noSocket({ address, source }: Endpoint, path: string): WorkspaceError {
  return engineError(
    Object.assign(new Error(`${path} does not exist`), { code: 'ENOENT' }),
    `The engine at ${address} (${source})`,
    {
      address,
    },
  )
}

function badAddress({ address, source }: Endpoint): never {
  throw new WorkspaceError('invalid_argument', `${JSON.stringify(address)} (${source}) is no address of an engine.`, {
    hint: 'Use unix:///path, npipe:////./pipe/name, tcp://host:port, ssh://user@host or host:port.',
  })
}
