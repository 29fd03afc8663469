import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive, until } from './processes.ts'
import type { World } from './world.ts'

/** The built program; `ATELIER_TEST_DIST` names another build of it. */
export const LOADER = join(process.env.ATELIER_TEST_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url)), 'loader.cjs')

/** A running Atelier process of the built product, with what it wrote. */
export interface RunningServer {
  readonly child: ChildProcess
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves with code and signal once it has ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export interface HttpServer extends RunningServer {
  readonly url: string
  readonly token: string
}

export interface ServerOptions {
  args?: readonly string[]
  env?: Record<string, string>
  cwd?: string
  /** Another installation's program. */
  loader?: string
}

/** Starts `atelier ARGS` in the world; its end is the world's. */
export function startAtelier(world: World, options: ServerOptions = {}): RunningServer {
  const { args = [], env = {}, cwd = world.project, loader = LOADER } = options
  const child = spawn(process.execPath, [loader, ...args], {
    cwd,
    env: { ...world.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', text => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', text => (stderr += text))
  child.stdin?.on('error', () => {})
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  world.onDispose(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await Promise.race([ended, new Promise(resolve => setTimeout(resolve, 5_000).unref())])
    child.kill('SIGKILL')
  })
  return { child, pid: child.pid ?? -1, stdout: () => stdout, stderr: () => stderr, ended }
}

/** Starts `atelier http` on a free loopback port and waits for the URL and the token on its stderr. */
export async function startHttp(world: World, options: ServerOptions = {}): Promise<HttpServer> {
  const server = startAtelier(world, {
    ...options,
    args: ['http', '--port', '0', '--directory', world.project, ...(options.args ?? [])],
  })
  const url = () => /https?:\/\/[^\s"'`]+\/mcp\b/.exec(server.stderr())?.[0]
  const token = () => /Bearer ([\w.~+/=-]{16,})/.exec(server.stderr())?.[1]
  await until(
    () => (url() !== undefined && token() !== undefined) || !isAlive(server.pid),
    'the HTTP server prints URL and token',
    30_000,
  )
  if (!isAlive(server.pid)) throw new Error(`atelier http ended at once:\n${server.stderr()}`)
  return { ...server, url: url() ?? '', token: token() ?? '' }
}
