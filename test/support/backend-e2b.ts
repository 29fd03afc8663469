import { execFile, execFileSync } from 'node:child_process'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startStandIn, tellStandIn } from '../stand-ins/shared/start.ts'
import type { MatrixBackend } from './backends.ts'
import { contained } from './contained.ts'
import type { World } from './world.ts'

const run = promisify(execFile)
const TESTS = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const IMAGE = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'
const WORKDIR = '/home/user/workspace'

/** Each world is an account of its own. */
const keyOf = ({ root }: World) => `e2b_${basename(root)}`

let url: string | undefined
let missing: string | undefined | null = null

/** Sandboxes of the stand-in, in containers of the local engine. */
export const e2b: MatrixBackend = {
  dear: true,
  unavailable() {
    if (missing === null) missing = whatIsMissing()
    return missing
  },
  env(world) {
    // One for all worlds of this process.
    url ??= startStandIn('e2b', ['--image', IMAGE])
    tellStandIn(`${url}/__accounts/${keyOf(world)}`, 'PUT', [
      { source: world.root, target: world.root },
      { source: TESTS, target: TESTS, readOnly: true },
      // Workspaces by name have files of their own.
      { source: world.project, target: WORKDIR, metadata: { 'atelier.name': 'default' } },
    ])
    return { ATELIER_BACKEND: 'e2b', E2B_API_KEY: keyOf(world), E2B_API_URL: url, E2B_SANDBOX_URL: url }
  },
  workdir: () => WORKDIR,
  alive: (world, pid) => contained(world).some(({ inside }) => inside === pid),
  processes: contained,
  async left(world) {
    const filter = ['--filter', 'label=atelier.stand-in=e2b', '--filter', `label=atelier.stand-in.account=${keyOf(world)}`]
    const { stdout } = await run('docker', ['ps', '--all', '--format', '{{.Names}}', ...filter])
    return stdout.split('\n').filter(name => name !== '')
  },
  async clear(world) {
    const names = await e2b.left(world)
    if (names.length > 0) await run('docker', ['rm', '--force', '--volumes', ...names])
  },
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
