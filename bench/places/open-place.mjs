import { spawn } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { atelier, DIST, succeeds } from '../clients.mjs'
import { makePlace } from '../place.mjs'
import { SERVER } from '../rows-nested.mjs'
import { OWN_WAYS } from './own-ways.mjs'
import { askRunner, RUNNER } from './runner.mjs'
import { openWire } from './wire.mjs'

/** The file that rows read in: numbered lines, about 20 MB. */
export const LINES = 400_000
const LONG_LIFE_MS = 900_000

let typescript

/** The backends of the tests with their stand-ins, and the parts of the sources that the package does not export. */
export function loadSources() {
  typescript ??= (async () => {
    register('../../scripts/typescript-loader.mjs', import.meta.url)
    const parts = await Promise.all([
      import('../../test/support/backends.ts'),
      import('../../src/backends/registry.ts'),
      import('../../src/config/backends/backend-settings.ts'),
      import('../../src/config.ts'),
      import('../../src/lib/log.ts'),
      import('../../src/link/boot.ts'),
    ])
    return Object.assign({}, ...parts)
  })()
  return typescript
}

/**
 * One backend with its service, from nothing: `client` speaks MCP to a default workspace there that is warm, `runner` is what can be
 * done in it without us over the stream that our link uses, `own` is the way of the service's SDK, `files` is our library's.
 */
export async function openPlace(backend) {
  const { BACKENDS } = await loadSources()
  const place = makePlace()
  const ends = [() => place.end()]
  const end = async () => {
    for (const one of ends.splice(0).reverse()) await one()
  }
  try {
    writeFixtures(place)
    ends.push(() => BACKENDS[backend].clear(place))
    const variables = BACKENDS[backend].env(place)
    place.env = { ...place.env, ...variables }
    const connect = async env => {
      const client = atelier({ ...place, env })
      ends.push(() => client.end())
      await client.initialize()
      await succeeds(client.call('Bash', { command: 'true' }))
      return client
    }
    const client = await connect(place.env)
    const opened = { backend, place, client, end, workdir: BACKENDS[backend].workdir(place) }
    if (backend === 'local') return { ...opened, runner: runHere(place, ends) }
    const { workspace, runner } = await lookInside(backend, place, ends)
    const own = await OWN_WAYS[backend]({ details: workspace.info.details, variables, place })
    const wired = async () => {
      const { wire, env } = await putBetween(backend, place, variables)
      ends.push(() => wire.end())
      return { wire, client: await connect(env) }
    }
    // The engine of Docker is no service that is far away.
    return { ...opened, files: workspace.files, runner, own, ...(backend !== 'docker' && { wired }) }
  } catch (error) {
    await end()
    throw error
  }
}

function writeFixtures({ project }) {
  const text = Array.from({ length: LINES }, (_, at) => `${at + 1}: a line as long as lines usually are, or so\n`)
  writeFileSync(join(project, 'lines.txt'), text.join(''))
  copyFileSync(SERVER, join(project, 'noop-server.cjs'))
}

function runHere(place, ends) {
  const child = spawn(process.execPath, ['-e', RUNNER], { cwd: place.project, env: place.env, stdio: ['pipe', 'pipe', 'ignore'] })
  ends.push(() => child.kill())
  return askRunner(child.stdin, child.stdout)
}

/** The same workspace for programs, and a program of our own in it over a stream of the backend's. */
async function lookInside(backend, place, ends) {
  const { createBackends, backendSettings, gatewayBoot, loadConfig, silentLogger } = await loadSources()
  const config = loadConfig({ mode: 'http', env: place.env, cwd: place.project })
  const settings = { ...backendSettings(config), dataDir: config.dataDir }
  const { WorkspaceManager } = await import(pathToFileURL(join(DIST, 'index.mjs')).href)
  const manager = new WorkspaceManager({ ...settings, backend, directory: place.project, ttlMs: LONG_LIFE_MS })
  ends.push(() => manager[Symbol.asyncDispose]())
  const workspace = await manager.getWorkspace()
  const { id, name, owner, directory } = workspace.info
  const made = await createBackends({ ...settings, logger: silentLogger }).get(backend)()
  const boot = gatewayBoot(config.limits, join(DIST, 'gateway.mjs'))
  const environment = await made.provision({ id, name, owner, boot, ...(directory && { directory }) })
  ends.push(() => environment[Symbol.asyncDispose]())
  const stream = await environment.openStream(['node', '-e', RUNNER])
  ends.push(() => stream.on('error', () => {}).destroy())
  return { workspace, runner: askRunner(stream, stream) }
}

/** A wire before the service, and the environment of a host that goes through it. */
async function putBetween(backend, place, variables) {
  if (backend !== 'kubernetes') {
    const address = variables.OPEN_SANDBOX_DOMAIN ?? new URL(variables.E2B_API_URL ?? variables.DAYTONA_API_URL).host
    const wire = await openWire(new URL(`http://${address}`))
    const moved = Object.entries(variables).map(([name, value]) => [name, value.replaceAll(address, wire.host)])
    return { wire, env: { ...place.env, ...Object.fromEntries(moved) } }
  }
  const config = readFileSync(variables.KUBECONFIG, 'utf8')
  const { server } = JSON.parse(config).clusters[0].cluster
  const wire = await openWire(new URL(server))
  const KUBECONFIG = join(place.root, 'kubeconfig-wired')
  writeFileSync(KUBECONFIG, config.replaceAll(server, `https://${wire.host}`), { mode: 0o600 })
  return { wire, env: { ...place.env, KUBECONFIG } }
}
