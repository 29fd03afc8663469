import { closeSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { makeFoldersSync } from '../../lib/make-folders.ts'
import { GATEWAY } from './abandoned.ts'
import { MARKER, type PreparedState, withoutSecrets } from './child-env.ts'
import type { DumpFile } from './dump-files.ts'
import type { FifoPool } from './fifo-pool.ts'
import type { PtyStart } from './pty-start.ts'
import type { ReadyShell } from './ready-shell.ts'
import { BOOT, bashArgs, bashBoot, shBoot } from './shell-boot.ts'
import type { FoundShell } from './shell-finder.ts'
import { type Spawned, spawnShell } from './spawn-shell.ts'

/** Longest string that a kernel takes in an environment, with room for the name. */
const MAX_INLINE = 120_000

/** What to start, for whom, from which state. */
export interface LaunchSpec {
  id: string
  shell: FoundShell
  text: string
  state: PreparedState
  /** Variables for this command alone. */
  env?: Record<string, string> | undefined
  dump: DumpFile | undefined
  /** See `isQuietText`. */
  quiet: boolean
  exitRecord: string
  runtimeDir: string
  /** Mark of this gateway, for the next one. */
  gateway: string
  input: boolean
  /** Starts it in a terminal. */
  pty?: PtyStart | undefined
}

/** A started shell and this side's ends of its pipes. */
export interface Launched extends Spawned {
  input: number | undefined
  /** Removes files that were needed for the start. */
  cleanup(): void
}

/** Starts a shell in a session and process group of its own, with both outputs on one named pipe. */
export function launch(spec: LaunchSpec, options: { fifos: FifoPool; ready?: ReadyShell | undefined }): Launched {
  const files = startFiles(spec)
  const boot = spec.shell.kind === 'bash' ? bashBoot : shBoot
  const code = boot({
    run: spec.id,
    ...(spec.dump ? { dump: spec.dump.path } : {}),
    exitRecord: spec.exitRecord,
    text: spec.text,
    textFile: files.text,
    restore: spec.state.restore !== '',
    restoreFile: files.restore,
    posix: spec.state.posix,
    quiet: spec.quiet,
  })
  const begun = options.ready?.begin(code, spec.text)
  if (begun) return { ...begun, input: undefined, cleanup: files.cleanup }
  const plain: Record<string, string> = {
    ...spec.state.env,
    ...(spec.env ? withoutSecrets(spec.env) : {}),
    [MARKER]: spec.id,
    [GATEWAY]: spec.gateway,
    _B: code,
  }
  if (files.text === undefined) plain._X = spec.text
  if (spec.shell.kind === 'bash' && spec.state.restore !== '') plain._R = asText(spec.state.restore)
  const cleanup = () => {
    files.cleanup()
    spec.pty?.cleanup()
  }
  return start(spec, spec.pty?.environment(plain) ?? plain, { fifos: options.fifos, cleanup })
}

function start(spec: LaunchSpec, env: Record<string, string>, options: { fifos: FifoPool; cleanup: () => void }): Launched {
  const output = options.fifos.output()
  const input = spec.pty ? spec.pty.input() : spec.input ? options.fifos.input() : undefined
  const plain = { path: spec.shell.path, args: spec.shell.kind === 'bash' ? bashArgs(BOOT) : ['-c', BOOT, 'sh'] }
  const { path, args } = spec.pty?.command(plain.path, plain.args) ?? plain
  try {
    const started = spawnShell([path, ...args], { cwd: spec.state.cwd, env, output, input: input?.read })
    return { ...started, input: input?.write, cleanup: options.cleanup }
  } catch (error) {
    if (input) closeSync(input.write)
    options.cleanup()
    throw error
  }
}

function startFiles(spec: LaunchSpec): { text?: string; restore?: string; cleanup: () => void } {
  const long = Buffer.byteLength(spec.text) > MAX_INLINE
  const restore = spec.shell.kind === 'sh' && spec.state.restore !== ''
  if (!long && !restore) return { cleanup: () => {} }
  const files: { text?: string; restore?: string } = {}
  const write = (name: string, content: string | Buffer) => {
    const path = `${spec.runtimeDir}/${name}${process.pid}-${spec.id}`
    makeFoldersSync(spec.runtimeDir, { mode: 0o700 })
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  if (long) files.text = write('t', spec.text)
  if (restore) files.restore = write('r', Buffer.from(spec.state.restore, 'latin1'))
  return { ...files, cleanup: () => [files.text, files.restore].forEach(remove) }
}

/** Restore code of bash is ASCII, but for function bodies: those that are no UTF-8 can't pass an environment. */
function asText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

function remove(path: string | undefined): void {
  if (path === undefined) return
  try {
    unlinkSync(path)
  } catch {
    // removed by the command itself
  }
}

/** Why a directory can't be started in; nothing where it can. */
export function directoryFault(path: string | Buffer): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : 'is not a directory'
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    return code === 'ENOENT' ? 'does not exist' : `can't be entered (${code})`
  }
}
