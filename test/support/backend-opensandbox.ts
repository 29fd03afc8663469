import { execFile } from 'node:child_process'
import { cpus } from 'node:os'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { BASE_IMAGE, whatIsMissing } from '../stand-ins/opensandbox/available.ts'
import { startStandIn, tellStandIn } from '../stand-ins/shared/start.ts'
import type { MatrixBackend } from './backends.ts'
import { contained } from './contained.ts'
import type { World } from './world.ts'

const run = promisify(execFile)
/** Servers that tests nest are started inside under their own paths. */
const TESTS = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const WORKDIR = '/workspace'
const LABEL = 'atelier-stand-in.account'

/** Each world is an account of its own. */
const keyOf = ({ root }: World) => `account-${basename(root)}`

let url: string | undefined

/** Sandboxes of a real server, in containers of the local engine, with the stand-in of the program inside. */
export const opensandbox: MatrixBackend = {
  dear: true,
  unavailable: whatIsMissing,
  env(world) {
    // One for all worlds of this process.
    url ??= startStandIn('opensandbox', ['--image', BASE_IMAGE])
    tellStandIn(`${url}/__accounts/${keyOf(world)}`, 'PUT', [
      { source: world.root, target: world.root },
      { source: TESTS, target: TESTS, readOnly: true },
      // Workspaces by name have files of their own.
      { source: world.project, target: WORKDIR, metadata: { 'atelier.name': 'default' } },
    ])
    return {
      ATELIER_BACKEND: 'opensandbox',
      ATELIER_IMAGE: BASE_IMAGE,
      OPEN_SANDBOX_API_KEY: keyOf(world),
      OPEN_SANDBOX_DOMAIN: new URL(url).host,
      // Elsewhere a workspace may use the whole machine.
      ATELIER_OPENSANDBOX: JSON.stringify({ resources: { cpu: String(cpus().length), memory: '8Gi' } }),
    }
  },
  workdir: () => WORKDIR,
  alive: (world, pid) => contained(world).some(({ inside }) => inside === pid),
  processes: contained,
  async left(world) {
    const filter = ['--filter', `label=${LABEL}=${keyOf(world)}`]
    const { stdout } = await run('docker', ['ps', '--all', '--format', '{{.Names}}', ...filter])
    return stdout.split('\n').filter(name => name !== '')
  },
  async clear(world) {
    const names = await opensandbox.left(world)
    if (names.length > 0) await run('docker', ['rm', '--force', '--volumes', ...names])
  },
}
