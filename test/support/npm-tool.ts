import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/atelier-tools/', import.meta.url))

/** Installs packages that only a test needs, once, outside our own dependencies. Gives their folder, or why it could not be done. */
export function npmTool(name: string, packages: readonly string[]): { folder: string } | { reason: string } {
  const folder = join(CACHE, name)
  if (existsSync(folder)) return { folder }
  const part = `${folder}.${process.pid}`
  mkdirSync(part, { recursive: true })
  const install = spawnSync('npm', ['install', '--prefix', part, '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
    encoding: 'utf8',
  })
  if (install.status !== 0) {
    rmSync(part, { recursive: true, force: true })
    return {
      reason: `${packages.join(', ')} could not be installed: ${install.stderr.trim().split('\n').at(-1) ?? 'npm failed'}`,
    }
  }
  if (!existsSync(folder)) renameSync(part, folder)
  return { folder }
}

/** The folder that holds the `node` binary of the npm package `node` in an installed tool. */
export function nodeOf(folder: string): string {
  return join(folder, 'node_modules/node/bin/node')
}
