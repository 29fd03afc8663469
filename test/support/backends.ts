import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { daytona } from './backend-daytona.ts'
import { e2b } from './backend-e2b.ts'
import { kubernetes } from './backend-kubernetes.ts'
import { opensandbox } from './backend-opensandbox.ts'
import { contained } from './contained.ts'
import { type FoundProcess, isAlive, processesNaming } from './processes.ts'
import type { World } from './world.ts'

/** A backend that requirements run on. */
export interface MatrixBackend {
  /** Why it can't be used here; `undefined` where it can. */
  unavailable(): string | undefined
  /** Whether a start takes so long that tests share one where they can. */
  dear: boolean
  /** Variables that make every server of the world use it. The world's root is seen inside at its own path. */
  env(world: World): Record<string, string>
  /** Working directory as seen inside. */
  workdir(world: World): string
  /** Whether a process of the workspace runs, by its id as seen inside. */
  alive(world: World, pid: number): boolean
  /** Processes of the workspace; `pid` is this host's. */
  processes(world: World): FoundProcess[]
  /** What the world has on the engine: names of containers and volumes. */
  left(world: World): Promise<string[]>
  /** Removes it. */
  clear(world: World): Promise<void>
}

const run = promisify(execFile)
/** Servers that tests nest are started inside under their own paths. */
const TESTS = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const IMAGE = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'

const local: MatrixBackend = {
  dear: false,
  unavailable: () => undefined,
  env: () => ({}),
  workdir: world => world.project,
  alive: (_, pid) => isAlive(pid),
  processes: world => processesNaming(world.root),
  left: async () => [],
  clear: async () => {},
}

let missing: string | undefined | null = null

const docker: MatrixBackend = {
  dear: true,
  unavailable() {
    if (missing === null) missing = whatIsMissing()
    return missing
  },
  env: world => ({
    ...engineVariables(),
    ATELIER_BACKEND: 'docker',
    ATELIER_IMAGE: IMAGE,
    ATELIER_PROFILE: 'tests',
    ATELIER_PROFILES: JSON.stringify({
      tests: {
        user: 'host',
        mounts: [
          { source: world.root, target: world.root },
          { source: TESTS, target: TESTS, readOnly: true },
        ],
      },
    }),
  }),
  workdir: () => '/workspace',
  alive: (world, pid) => contained(world).some(({ inside }) => inside === pid),
  processes: contained,
  async left(world) {
    const filter = ['--filter', `label=atelier.data-dir=${join(world.root, 'data/atelier')}`]
    const [containers, volumes] = await Promise.all([
      run('docker', ['ps', '--all', '--format', '{{.Names}}', ...filter]),
      run('docker', ['volume', 'ls', '--quiet', ...filter]),
    ])
    return `${containers.stdout}\n${volumes.stdout}`.split('\n').filter(name => name !== '')
  },
  async clear(world) {
    const names = await docker.left(world)
    if (names.length > 0) await run('docker', ['rm', '--force', '--volumes', ...names])
  },
}

/** Backends by name. */
export const BACKENDS: Readonly<Record<string, MatrixBackend>> = { local, docker, kubernetes, e2b, daytona, opensandbox }

function engineVariables(): Record<string, string> {
  const names = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH', 'DOCKER_CONFIG']
  return Object.fromEntries(names.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : [])))
}

function whatIsMissing(): string | undefined {
  if (process.platform !== 'linux') return 'the tests look at processes in containers from a Linux host'
  try {
    execFileSync('docker', ['image', 'inspect', IMAGE], { stdio: ['ignore', 'ignore', 'pipe'] })
    return undefined
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr ?? error).trim()
    return `no container engine with the image ${IMAGE}: ${said.split('\n').at(-1)}`
  }
}
