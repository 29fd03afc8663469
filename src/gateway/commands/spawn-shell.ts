import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { OutputPipe } from './fifo-pool.ts'

/** A started process and this side's ends of its output. */
export interface Spawned extends Pick<OutputPipe, 'read' | 'handover' | 'giveBack'> {
  child: ChildProcess
  /** Resolves once: at the process's exit, whatever still holds its pipes. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null; error?: Error }>
}

export interface SpawnOptions {
  cwd: string
  env: Record<string, string>
  output: OutputPipe
  /** Its standard input; absent: an empty one. */
  input?: number | undefined
  /** Its descriptor 3. */
  control?: number | undefined
}

/**
 * Starts a program in a session and process group of its own, with both outputs on one named pipe. The ends that the child gets are
 * closed here in any case, all of `output` when it could not be started.
 */
export function spawnShell([path, ...args]: readonly [string, ...string[]], options: SpawnOptions): Spawned {
  const { cwd, env, output, input, control } = options
  try {
    const stdio = [input ?? ('ignore' as const), output.write, output.write, ...(control === undefined ? [] : [control])]
    const child = spawn(path, args, { cwd, env, detached: true, stdio })
    const exited = new Promise<Awaited<Spawned['exited']>>(resolve => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
      child.once('error', error => {
        if (child.pid === undefined) resolve({ code: null, signal: null, error })
      })
    })
    const { read, handover, giveBack } = output
    return { child, exited, read, handover, giveBack }
  } catch (error) {
    closeSync(output.read)
    closeSync(output.handover)
    output.giveBack(false)
    throw error
  } finally {
    closeSync(output.write)
    if (input !== undefined) closeSync(input)
    if (control !== undefined) closeSync(control)
  }
}
