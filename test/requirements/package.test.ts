import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProbeStep } from '../../src/backends/backend.ts'
import { BACKENDS } from '../support/backends.ts'
import { startAtelier } from '../support/server.ts'
import { createWorld } from '../support/world.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MEGABYTE = 1024 * 1024

const LIMIT_MS = 240_000

let folder: string
/** Where the package is installed; absent where npm could not do it, for this reason. */
let home: string | undefined
let reason: string | undefined
let packed: string[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'atelier-pack-'))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [{ filename, files }] = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' })) as [
    { filename: string; files: { path: string }[] },
  ]
  packed = files.map(({ path }) => path)
  const use = join(folder, 'use')
  mkdirSync(use)
  reason = npmInstall(use, join(folder, filename))
  if (reason === undefined) home = use
}, LIMIT_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Installs one package; gives why that did not work here. */
function npmInstall(prefix: string, name: string): string | undefined {
  const args = ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--loglevel=error', name]
  const { status, stderr } = spawnSync('npm', args, { cwd: prefix, encoding: 'utf8' })
  return status === 0 ? undefined : `npm install did not work here: ${stderr.trim().split('\n').at(-1)}`
}

function sizeOf(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return files.reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0)
}

describe('the package', () => {
  it('keeps the gateway under 400 KB', () => {
    expect(statSync(join(ROOT, 'dist/gateway.mjs')).size).toBeLessThan(400_000)
  })

  it('installs into an empty folder with at most 30 MB and 30 packages, and runs', { timeout: LIMIT_MS }, context => {
    if (home === undefined) return context.skip(reason)
    for (const path of ['LICENSE', 'README.md', 'dist/loader.cjs', 'dist/gateway.mjs', 'mcp.json.example'])
      expect(packed).toContain(path)
    const lock = JSON.parse(readFileSync(join(home, 'node_modules/.package-lock.json'), 'utf8')) as { packages: object }
    expect(Object.keys(lock.packages).filter(path => existsSync(join(home ?? '', path))).length).toBeLessThanOrEqual(30)
    expect(sizeOf(join(home, 'node_modules'))).toBeLessThanOrEqual(30 * MEGABYTE)
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    expect(execFileSync(join(home, 'node_modules/.bin/atelier'), ['--version'], { encoding: 'utf8' })).toContain(version)
  })
})

// After the size of the bare package was taken: these install beside it.
const elsewhere =
  process.env.ATELIER_TEST_BACKENDS === 'local' ? [] : Object.entries(BACKENDS).filter(([name]) => name !== 'local')
describe.each(elsewhere)('the package on %s', (name, backend) => {
  it('names the one package that it needs, and works with it', { timeout: LIMIT_MS }, async context => {
    const missing = home === undefined ? reason : backend.unavailable()
    if (home === undefined || missing !== undefined) return context.skip(missing)
    const world = createWorld()
    try {
      const env = { ...world.env, ...backend.env(world) }
      const loader = join(home, 'node_modules/atelier/dist/loader.cjs')
      const doctor = async (): Promise<ProbeStep[]> => {
        const program = startAtelier(world, { loader, args: ['doctor', name, '--json'], env })
        await program.ended
        return (JSON.parse(program.stdout()) as [{ steps: ProbeStep[] }])[0].steps
      }
      const wanted = (await doctor()).find(({ ok }) => !ok)?.hint ?? ''
      const sdk = /^Run npm install (\S+) /.exec(wanted)?.[1]
      expect(sdk, wanted).toBeDefined()
      const install = npmInstall(home, sdk ?? '')
      if (install !== undefined) return context.skip(install)
      // Without ripgrep it works all the same.
      expect((await doctor()).filter(({ name, ok }) => !ok && name !== 'ripgrep')).toEqual([])
    } finally {
      await backend.clear(world)
      await world.dispose()
    }
  })
})
