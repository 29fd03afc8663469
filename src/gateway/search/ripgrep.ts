import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

const MAX_STDERR = 64 * 1024

/** Path of the first executable `rg` of a `PATH`; undefined where there is none. */
export async function findOnPath(path: string | undefined): Promise<string | undefined> {
  for (const directory of (path ?? '').split(delimiter)) {
    if (isAbsolute(directory) && (await isExecutable(join(directory, 'rg')))) return join(directory, 'rg')
  }
  return undefined
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

export interface RipgrepRun {
  program: string
  args: readonly string[]
  cwd: string
  timeoutMs: number
  signal: AbortSignal
  /** Takes output; true ends the search early. */
  onOutput(chunk: Buffer): boolean
}

export interface RipgrepEnd {
  /** Exit code; null when it was ended by us. */
  code: number | null
  ended: 'itself' | 'enough' | 'timeout' | 'cancelled'
  stderr: string
}

/** Runs ripgrep with its standard input closed; resolves when it is gone. Rejects when it can't be started. */
export function runRipgrep(run: RipgrepRun): Promise<RipgrepEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(run.program, run.args, { cwd: run.cwd, env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
    let ended: RipgrepEnd['ended'] = 'itself'
    let stderr = ''
    const end = (why: RipgrepEnd['ended']): void => {
      if (ended !== 'itself') return
      ended = why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => end('timeout'), run.timeoutMs)
    const cancel = (): void => end('cancelled')
    run.signal.addEventListener('abort', cancel, { once: true })
    if (run.signal.aborted) cancel()
    child.stdout.on('data', (chunk: Buffer) => {
      if (ended === 'itself' && run.onOutput(chunk)) end('enough')
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR) stderr += chunk.toString('utf8')
    })
    const settle = (): void => {
      clearTimeout(timer)
      run.signal.removeEventListener('abort', cancel)
    }
    child.on('error', error => {
      settle()
      reject(error)
    })
    child.on('close', code => {
      settle()
      resolve({ code, ended, stderr })
    })
  })
}
