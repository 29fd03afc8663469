import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EXECD_IMAGE } from './image.ts'

export const SERVER_VERSION = '1.1.1'
/** Variable in each sandbox that names the server's folder: an engine may carry the sandboxes of several. */
const MARK = 'ATELIER_STAND_IN'
const START_MS = 60_000
const STOP_MS = 5_000

export interface ServerOptions {
  /** Folder for its configuration, state and log. */
  dir: string
  /** Absent: a free one. */
  port?: number
  apiKey?: string
  /** Host folders that sandboxes may mount. */
  mounts?: readonly string[]
}

/** A running server. */
export interface OpenSandboxServer {
  domain: string
  apiKey: string
  pid: number
  stop(): Promise<void>
}

/** The installed server program; see `install.sh`. */
export function serverProgram(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const home = process.env.ATELIER_OPENSANDBOX_HOME || join(cache, `atelier/opensandbox-server-${SERVER_VERSION}`)
  return join(home, 'bin/opensandbox-server')
}

/** Starts the real server over the container engine, with state that outlives it, and waits until it answers. */
export async function startServer({
  dir,
  port,
  apiKey = 'test-key',
  mounts = ['/tmp'],
}: ServerOptions): Promise<OpenSandboxServer> {
  const chosen = port ?? (await freePort())
  mkdirSync(dir, { recursive: true })
  const config = join(dir, 'config.toml')
  writeFileSync(config, configOf({ port: chosen, apiKey, mounts, dir }))
  const log = openSync(join(dir, 'server.log'), 'a')
  const child = spawn(serverProgram(), ['--config', config], {
    // Its state is in its home.
    env: { PATH: process.env.PATH, HOME: dir, ...engineVariables() },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const domain = `127.0.0.1:${chosen}`
  await ready(child, domain, dir)
  return { domain, apiKey, pid: child.pid ?? 0, stop: () => stop(child) }
}

function configOf({
  port,
  apiKey,
  mounts,
  dir,
}: {
  port: number
  apiKey: string
  mounts: readonly string[]
  dir: string
}): string {
  const list = (values: readonly string[]): string => `[${values.map(value => JSON.stringify(value)).join(', ')}]`
  return `[server]
host = "127.0.0.1"
port = ${port}
api_key = ${JSON.stringify(apiKey)}
[log]
level = "WARNING"
[runtime]
type = "docker"
execd_image = ${JSON.stringify(EXECD_IMAGE)}
[docker]
network_mode = "bridge"
publish_host = "127.0.0.1"
sandbox_env = { ${MARK} = ${JSON.stringify(dir)} }
[ingress]
mode = "direct"
[storage]
allowed_host_paths = ${list(mounts)}
[store]
type = "sqlite"
path = ${JSON.stringify(join(dir, 'store.db'))}
`
}

async function ready(child: ChildProcess, domain: string, dir: string): Promise<void> {
  let ended: string | undefined
  child.once('exit', (code, signal) => (ended = `it ended with ${code ?? signal}`))
  child.once('error', error => (ended = error.message))
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(50)) {
    if (ended !== undefined) break
    const answer = await fetch(`http://${domain}/health`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined)
    if (answer?.ok) return
  }
  child.kill('SIGKILL')
  throw new Error(
    `The OpenSandbox server did not start: ${ended ?? 'no answer'}\n${readFileSync(join(dir, 'server.log'), 'utf8').slice(-2_000)}`,
  )
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await gone
  clearTimeout(timer)
}

/** A port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

function engineVariables(): Record<string, string> {
  const names = ['DOCKER_HOST', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH']
  return Object.fromEntries(names.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : [])))
}

/** Whether the server is installed. */
export function isInstalled(): boolean {
  return existsSync(serverProgram())
}

/** Removes the containers that a server with this folder has made, also when it has ended. */
export async function removeSandboxes(dir: string): Promise<void> {
  const run = promisify(execFile)
  const { stdout } = await run('docker', ['ps', '--all', '--quiet', '--filter', 'label=opensandbox.io/id'])
  for (const id of stdout.split('\n').filter(line => line !== '')) {
    const { stdout: env } = await run('docker', ['inspect', '--format', '{{json .Config.Env}}', id]).catch(() => ({
      stdout: '[]',
    }))
    if ((JSON.parse(env) as string[]).includes(`${MARK}=${dir}`))
      await run('docker', ['rm', '--force', '--volumes', id]).catch(() => {})
  }
}
