import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MEGABYTE = 1024 * 1024

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'atelier-pack-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function sizeOf(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return files.reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0)
}

describe('the package', () => {
  it('keeps the gateway under 400 KB', () => {
    expect(statSync(join(ROOT, 'dist/gateway.mjs')).size).toBeLessThan(400_000)
  })

  it('installs into an empty folder with at most 30 MB and 30 packages, and runs', { timeout: 240_000 }, context => {
    const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }]
    for (const path of ['LICENSE', 'README.md', 'dist/loader.cjs', 'dist/gateway.mjs', 'mcp.json.example'])
      expect(files.map(file => file.path)).toContain(path)
    const home = join(folder, 'use')
    mkdirSync(home)
    const args = ['install', '--prefix', home, '--no-audit', '--no-fund', '--loglevel=error', join(folder, filename)]
    const install = spawnSync('npm', args, { cwd: home, encoding: 'utf8' })
    if (install.status !== 0) return context.skip(`npm install did not work here: ${install.stderr.trim().split('\n').at(-1)}`)
    const lock = JSON.parse(readFileSync(join(home, 'node_modules/.package-lock.json'), 'utf8')) as { packages: object }
    expect(Object.keys(lock.packages).filter(path => existsSync(join(home, path))).length).toBeLessThanOrEqual(30)
    expect(sizeOf(join(home, 'node_modules'))).toBeLessThanOrEqual(30 * MEGABYTE)
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    expect(execFileSync(join(home, 'node_modules/.bin/atelier'), ['--version'], { encoding: 'utf8' })).toContain(version)
  })
})
