import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processesNaming, until } from './processes.ts'

/** A private home, data directory, runtime directory and project, and an environment that leads there. */
export interface World {
  /** Short, since unix sockets lie under it; every process of this world can be told by it. */
  readonly root: string
  readonly project: string
  readonly env: Record<string, string>
  /** Registers what has to be ended before the world goes; last in, first out. */
  onDispose(end: () => unknown): void
  /** Waits until no process of this world is left; throws with their command lines. */
  expectNoProcess(ms?: number): Promise<void>
  dispose(): Promise<void>
}

/** Makes a world under the temporary directory. `dispose` ends every process of it and removes it. */
export function createWorld(): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'at-')))
  const folder = (name: string, mode = 0o700) => {
    mkdirSync(join(root, name), { mode })
    return join(root, name)
  }
  const ends: (() => unknown)[] = []
  const project = folder('project')
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    HOME: folder('home'),
    XDG_DATA_HOME: folder('data'),
    XDG_CONFIG_HOME: folder('config'),
    XDG_STATE_HOME: folder('state'),
    XDG_CACHE_HOME: folder('cache'),
    XDG_RUNTIME_DIR: folder('run'),
    TMPDIR: folder('tmp'),
    // A daemon with nothing to do would stay for minutes.
  }
  const expectNoProcess = (ms = 15_000) => {
    const left = () => processesNaming(root)
    return until(() => left().length === 0, 'no process of the test is left', ms).catch(error => {
      throw new Error(
        `${error.message}: ${left()
          .map(({ pid, command }) => `${pid} ${command}`)
          .join('; ')}`,
      )
    })
  }
  return {
    root,
    project,
    env,
    onDispose: end => void ends.push(end),
    expectNoProcess,
    async dispose() {
      for (const end of ends.splice(0).reverse()) await Promise.resolve(end()).catch(() => {})
      for (const { pid } of processesNaming(root)) killQuietly(pid)
      await expectNoProcess(5_000)
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    },
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself in the meantime.
  }
}
