import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import type { Backend, EnvironmentSpec } from '../../../src/backends/backend.ts'
import { createOpenSandboxBackend, type OpenSandboxBackendOptions } from '../../../src/backends/opensandbox/opensandbox.ts'
import { type Logger, silentLogger } from '../../../src/lib/log.ts'
import { connectGateway } from '../../../src/link/connect.ts'
import { DEFAULT_LIMITS, type WorkspaceLimits } from '../../../src/workspace/limits.ts'
import { openWorkspace, type Workspace, type WorkspaceOptions } from '../../../src/workspace/workspace.ts'
import { BASE_IMAGE, whatIsMissing } from '../../stand-ins/opensandbox/available.ts'
import { type Front, startFront } from '../../stand-ins/opensandbox/front.ts'
import { makeExecdImage } from '../../stand-ins/opensandbox/image.ts'
import { type OpenSandboxServer, removeSandboxes, startServer } from '../../stand-ins/opensandbox/server.ts'
import { OWNER } from '../support.ts'

export { failure, OWNER, sh } from '../support.ts'

// An engine is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

export const IMAGE = BASE_IMAGE
/** A server that is there already, `host:port`; what takes hold of its containers, or ends it, is left out there. */
const GIVEN = process.env.OPEN_SANDBOX_DOMAIN
export const IS_GIVEN = GIVEN !== undefined
export const MISSING = IS_GIVEN ? undefined : whatIsMissing()
/** Title of a suite on a real server, with the reason where it is skipped. */
export const onServer = (title: string): string => (MISSING === undefined ? title : `${title} (skipped: ${MISSING})`)

const docker = promisify(execFile)

export interface OpenOptions extends Partial<OpenSandboxBackendOptions> {
  limits?: Partial<WorkspaceLimits>
}

/** A server, a front before it and a gateway of a suite's own. */
export interface World {
  base: string
  script: string
  server: OpenSandboxServer
  front: Front
  /** Of an account that shares the engine with others, and sees nothing of theirs. */
  apiKey: string
  /** All its requests go through the front, which can be told to misbehave. */
  backend(options?: Partial<OpenSandboxBackendOptions>): Backend
  spec(id: string, more?: Partial<EnvironmentSpec>): EnvironmentSpec
  open(id: string, options?: OpenOptions, more?: Partial<EnvironmentSpec & WorkspaceOptions>): Promise<Workspace>
  /** Sandboxes of the account, by id, whatever their state. */
  sandboxes(): Promise<string[]>
  /** Asks the server as its own tools would. */
  ask(method: string, path: string): Promise<unknown>
  /** Ends the server and starts it again, with the same state. */
  restart(): Promise<void>
  clear(): Promise<void>
  remove(): Promise<void>
}

export async function createWorld(): Promise<World> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'at-os-')))
  execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'gateway', '--out', base])
  const dir = join(base, 'server')
  let server = await serverIn(dir)
  const front = await startFront(server)
  const apiKey = `account-${basename(base)}`
  const script = join(base, 'gateway.mjs')
  const common = { image: IMAGE, logger: silentLogger, settleMs: 500 }
  const backend = (options: Partial<OpenSandboxBackendOptions> = {}): Backend =>
    createOpenSandboxBackend({ domain: front.domain, apiKey, ...common, ...options })
  const spec = (id: string, more: Partial<EnvironmentSpec> = {}): EnvironmentSpec => ({ id, name: id, owner: OWNER, ...more })
  const ask = async (method: string, path: string): Promise<unknown> => {
    const headers = { 'OPEN-SANDBOX-API-KEY': apiKey }
    const answer = await fetch(`http://${front.domain}/v1${path}`, { method, headers })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const world: World = {
    ...{ base, script, front, apiKey, backend, spec, ask },
    get server() {
      return server
    },
    open: (id, { limits = {}, ...options } = {}, more = {}) =>
      openWorkspace(backend(options), spec(id, more), {
        ...{ limits: { ...DEFAULT_LIMITS, ...limits }, env: {}, owner: 'test', confine: 'none', goodbye: 'end' },
        logger: silentLogger,
        connect: (environment, given) => connectGateway(environment, { ...given, gatewayScript: script }),
        ...more,
      }),
    async sandboxes() {
      const { items } = (await ask('GET', '/sandboxes?pageSize=200')) as { items: { id: string }[] }
      return items.map(({ id }) => id)
    },
    async restart() {
      const { port } = new URL(`http://${server.domain}`)
      await server.stop()
      server = await startServer({ dir, port: Number(port) })
    },
    async clear() {
      front.faults.clear()
      if (!IS_GIVEN) return removeSandboxes(dir)
      for (const id of await world.sandboxes()) await ask('DELETE', `/sandboxes/${id}`)
    },
    async remove() {
      await world.clear()
      await front[Symbol.asyncDispose]()
      await server.stop()
      rmSync(base, { recursive: true, force: true })
    },
  }
  return world
}

async function serverIn(dir: string): Promise<OpenSandboxServer> {
  if (GIVEN !== undefined) return { domain: GIVEN, apiKey: process.env.OPEN_SANDBOX_API_KEY ?? '', pid: 0, async stop() {} }
  makeExecdImage(IMAGE)
  return startServer({ dir })
}

/** What a logger was told, as text. */
export function recorder(): { logger: Logger; lines: string[] } {
  const lines: string[] = []
  const take = (...parts: unknown[]): void =>
    void lines.push(parts.map(part => (typeof part === 'string' ? part : JSON.stringify(part))).join(' '))
  const logger = { ...silentLogger, debug: take, info: take, warn: take, error: take }
  return { logger: { ...logger, child: () => logger } as unknown as Logger, lines }
}

/** Runs a command in a sandbox's container from outside. */
export async function inContainer(id: string, command: string): Promise<string> {
  const { stdout } = await docker('docker', ['exec', `sandbox-${id}`, 'sh', '-c', command])
  return stdout.trim()
}
