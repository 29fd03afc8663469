import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Built {
  folder: string
  loader: string
  remove(): void
}

/** The real loader, built, beside the fixture server. */
export async function buildFixture(): Promise<Built> {
  const folder = mkdtempSync(join(tmpdir(), 'atelier-stdio-'))
  const made = spawnSync(process.execPath, ['scripts/build.mjs', '--only', 'loader', '--out', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  if (made.status !== 0) throw new Error(`The loader could not be built: ${made.stderr}`)
  await build({
    entryPoints: [join(root, 'test/stdio/fixture-server.ts')],
    outfile: join(folder, 'server.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'error',
    define: { 'import.meta.url': '"file:///nowhere"', __TOOLS__: '[]' },
  })
  return { folder, loader: join(folder, 'loader.cjs'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

export interface Running {
  child: ChildProcess
  lines: string[]
  stderr(): string
  write(data: string | Buffer): void
  send(...messages: unknown[]): void
  /** The answer with this id. */
  answer(id: unknown): Promise<Record<string, unknown>>
  /** Exit code, signal and how long it took since the call. */
  ended(): Promise<{ code: number | null; signal: string | null; ms: number }>
  log(): string[]
  logged(line: string): Promise<void>
}

/** Starts the loader; its answers are kept line by line. */
export function start(built: Built, env: Record<string, string> = {}): Running {
  const logFile = join(mkdtempSync(join(built.folder, 'run-')), 'log')
  const child = spawn(process.execPath, [built.loader], { env: { ...process.env, ...env, FIXTURE_LOG: logFile }, stdio: 'pipe' })
  const lines: string[] = []
  let rest = ''
  let stderr = ''
  const closed = once(child, 'close')
  child.stdin.on('error', () => {})
  child.stderr.setEncoding('utf8').on('data', text => (stderr += text))
  child.stdout.setEncoding('utf8').on('data', text => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    child.emit('lines')
  })
  const log = (): string[] => (existsSync(logFile) ? readFileSync(logFile, 'utf8').trimEnd().split('\n') : [])
  return {
    child,
    lines,
    log,
    stderr: () => stderr,
    write: data => void child.stdin.write(data),
    send: (...messages) => void child.stdin.write(messages.map(message => `${JSON.stringify(message)}\n`).join('')),
    async answer(id) {
      for (;;) {
        const found = lines.map(line => JSON.parse(line)).find(message => message.id === id && message.method === undefined)
        if (found !== undefined) return found
        await Promise.race([
          once(child, 'lines'),
          closed.then(() => Promise.reject(new Error(`ended without answer ${id}: ${stderr}`))),
        ])
      }
    },
    async ended() {
      const since = performance.now()
      await closed
      return { code: child.exitCode, signal: child.signalCode, ms: performance.now() - since }
    },
    async logged(line) {
      for (let waited = 0; !log().includes(line); waited += 10) {
        if (waited > 15_000) throw new Error(`"${line}" never came; the log has ${log()}: ${stderr}`)
        await new Promise(resolve => setTimeout(resolve, 10))
      }
    },
  }
}

export const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {} },
}
export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
export const list = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'tools/list' })
export const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' })
export const call = (id: unknown, name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
