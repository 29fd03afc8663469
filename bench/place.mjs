import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atelier } from './clients.mjs'

/** A private home and project under the temporary directory. `end` ends what runs there and removes it. */
export function makePlace() {
  const root = mkdtempSync(join(tmpdir(), 'ab-'))
  const folder = name => {
    mkdirSync(join(root, name), { mode: 0o700 })
    return join(root, name)
  }
  const project = folder('project')
  const env = {
    ...process.env,
    HOME: folder('home'),
    XDG_DATA_HOME: folder('data'),
    XDG_RUNTIME_DIR: folder('run'),
    TMPDIR: folder('tmp'),
  }
  return {
    root,
    project,
    env,
    /** Resolves when nothing of this place runs. */
    async quiet() {
      while (processesOf(root).length > 0) await new Promise(resolve => setTimeout(resolve, 20))
    },
    end() {
      for (const { pid } of processesOf(root)) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // It ended by itself.
        }
      }
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

const read = path => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** Live processes (Linux) whose command line or environment names `marker`. */
export function processesOf(marker) {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(pid => ({ pid: Number(pid), command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ') }))
    .filter(({ pid, command }) => command.includes(marker) || read(`/proc/${pid}/environ`).includes(marker))
}

/** The gateway of a place. */
export const gatewayOf = place => processesOf(place.root).find(({ command }) => command.includes('gateway.mjs'))?.pid

/** Resident memory of a process in bytes: now, or at its highest. */
export function memoryOf(pid, key = 'VmRSS') {
  return Number(new RegExp(`${key}:\\s+(\\d+)`).exec(read(`/proc/${pid}/status`))?.[1] ?? Number.NaN) * 1024
}

/** Runs a program to its end and drops what it prints. */
export function runBare(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
    child.stdout?.resume()
    child.stderr?.resume()
    child.once('error', reject)
    child.once('close', () => resolve())
  })
}

/** Runs `body` with a place and an initialized stdio client whose gateway is up. */
export async function withClient(body) {
  const place = makePlace()
  try {
    const client = atelier(place)
    await client.initialize()
    await client.call('Bash', { command: 'true' })
    const rows = await body(place, client)
    await client.end()
    return rows
  } finally {
    place.end()
  }
}
