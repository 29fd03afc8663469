import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import type { BackendName } from '../../src/backends/backend.ts'

/** What a host in a process of its own is to do. */
export interface HostTask {
  backend: Exclude<BackendName, 'local'>
  /** Options of the backend, as plain data. */
  settings: object
  /** Of the workspace. */
  id: string
  /** The gateway. */
  script: string
  /**
   * `note` appends its pid to the file `hosts` and says the incarnation; `long` starts a job and a command, says the job, and goes on
   * for some seconds.
   */
  work: 'note' | 'long'
}

/** A host that a test may kill. What it says is one line; empty when it ends without. */
export type Host = ChildProcess & { said: Promise<string> }

/** Builds the program of such hosts into a folder and gives what starts one. */
export async function buildHost(folder: string): Promise<(task: HostTask) => Host> {
  const outfile = join(folder, 'host.mjs')
  await build({
    entryPoints: ['test/backends/host-main.ts'],
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' },
  })
  if (!existsSync(join(folder, 'node_modules'))) symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  return task => {
    const child = spawn(process.execPath, [outfile, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface({ input: child.stdout })
    const said = new Promise<string>(resolve => lines.once('line', resolve).once('close', () => resolve('')))
    return Object.assign(child, { said })
  }
}
