// What `npm start`, `npm test` and `npm run bench` need before they can run. Node's own modules only: this runs before the install.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of package.json. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LOCK_WAIT_MS = 180_000

/** Says why this Node can't be used, or nothing when it can. */
export function nodeComplaint(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22
  return fits
    ? undefined
    : `Atelier needs Node 20.19 or later, 22.12 or later, or 24; this is Node ${version}. Install a newer one and try again.`
}

/** Runs `npm ci` when node_modules is missing or older than the lock file; tries twice, since registries hiccup. */
export function ensureInstalled(log = () => {}) {
  const marker = join(ROOT, 'node_modules/.package-lock.json')
  const lock = join(ROOT, 'package-lock.json')
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(lock).mtimeMs) return
  if (existsSync(marker) && readFileSync(marker, 'utf8').length > 0 && installMatches(marker, lock)) return
  log('Installing dependencies…')
  for (const attempt of [1, 2]) {
    const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: ROOT,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    })
    if (npm.status === 0) return
    log(attempt === 1 ? 'The install failed; trying once more…' : 'The install failed twice.')
  }
  throw new Error('`npm ci` failed: see its message above. Is a package registry reachable?')
}

/** A fresh checkout touches the lock file without changing it: then what is installed still fits. */
function installMatches(marker, lock) {
  const packages = file => JSON.parse(readFileSync(file, 'utf8')).packages
  const installed = packages(marker)
  return Object.entries(packages(lock)).every(
    ([path, entry]) => path === '' || entry.optional || installed[path]?.version === entry.version,
  )
}

/** Hash over everything that the bundles are made of. */
export function sourceHash() {
  const hash = createHash('sha256')
  const add = path => {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path).sort()) add(join(path, name))
    else hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path)).update('\0')
  }
  for (const path of ['src', 'scripts/build.mjs', 'package.json']) add(join(ROOT, path))
  return hash.digest('hex')
}

/** Builds `dist` when it was made from other sources. Several processes may ask at once: one builds, the others wait. */
export async function ensureBuilt(log = () => {}) {
  const stamp = join(ROOT, 'dist/.stamp')
  const fresh = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash()
  if (fresh()) return
  const release = await takeLock(join(ROOT, 'node_modules/.atelier-build'))
  try {
    if (fresh()) return
    log('Building…')
    const hash = sourceHash()
    const build = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, stdio: ['ignore', 2, 2] })
    if (build.status !== 0) throw new Error('The build failed: see its message above.')
    writeFileSync(stamp, hash)
  } finally {
    release()
  }
}

async function takeLock(path) {
  const deadline = Date.now() + LOCK_WAIT_MS
  for (;;) {
    try {
      mkdirSync(path)
      return () => rmSync(path, { recursive: true, force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      if (Date.now() > deadline || Date.now() - statSync(path, { throwIfNoEntry: false })?.mtimeMs > LOCK_WAIT_MS)
        rmSync(path, { recursive: true, force: true })
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}
