import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Environment } from '../../src/backends/backend.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { type ConnectOptions, connectGateway } from '../../src/link/connect.ts'
import type { GatewayClient } from '../../src/link/gateway-client.ts'

/** Packages that were written for `require` go into a bundle of modules with it. */
const REQUIRE = { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" }
const SUPPORT = join(dirname(fileURLToPath(import.meta.url)), '../gateway/support')

/** A place with a runtime directory and a built gateway; `dispose` ends the daemon that may run there. */
export interface Bench {
  dir: string
  script: string
  environment: Environment
  connect(options?: Partial<ConnectOptions>): GatewayClient
  /** Bundles a file of the test support beside the gateway. */
  bundle(name: string): Promise<string>
  log(): string
  dispose(): Promise<void>
}

export async function createBench(program: 'stub' | 'real' = 'stub'): Promise<Bench> {
  const base = mkdtempSync(join(tmpdir(), 'atelier-link-'))
  const dir = join(base, 'run')
  const bundle = async (name: string): Promise<string> => {
    const outfile = join(base, `${name}.mjs`)
    const entry = join(SUPPORT, `${name}.ts`)
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'error',
      banner: REQUIRE,
    })
    return outfile
  }
  const script = program === 'stub' ? await bundle('stub-main') : await bundleGateway(join(base, 'gateway.mjs'))
  const environment = { info: { id: 'test', workdir: base, root: base, socket: join(dir, 's'), backend: 'local' } } as Environment
  const pids = new Set<number>()
  const log = (): string => {
    try {
      return readFileSync(join(dir, 'gateway.log'), 'utf8')
    } catch {
      return ''
    }
  }
  return {
    ...{ dir, script, environment, bundle, log },
    connect: options =>
      connectGateway(environment, {
        ...{ owner: 'o', env: { HOME: '/home/o' }, graceMs: 20_000, gatewayIdleMs: 20_000, jobMaxLifeMs: 1e6, logMaxBytes: 1e6 },
        ...{ reconnectMs: 15_000, logger: silentLogger, gatewayScript: script },
        ...options,
      }),
    async dispose() {
      for (const match of log().matchAll(/"pid":(\d+)/g)) pids.add(Number(match[1]))
      for (const pid of pids) kill(pid)
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** The real program, bundled as the build script does. */
export async function bundleGateway(outfile: string): Promise<string> {
  const banner = REQUIRE
  const entryPoints = [join(SUPPORT, '../../../src/gateway/main.ts')]
  await build({
    entryPoints,
    outfile,
    banner,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    logLevel: 'error',
  })
  return outfile
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

/** The arguments of the stub's `command.run`. */
export function run(command: string): { session: string; command: string; headBytes: number; tailBytes: number } {
  return { session: 's', command, headBytes: 1000, tailBytes: 1000 }
}

/** Waits until `check` holds; rejects after a generous limit. */
export async function until(check: () => boolean, limitMs = 20_000): Promise<void> {
  const deadline = Date.now() + limitMs
  while (!check()) {
    if (Date.now() > deadline) throw new Error(`not so after ${limitMs} ms: ${check}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
