import type { CallContext } from '../dispatch.ts'
import type { RunParams } from '../protocol-commands.ts'
import { gatewayMark } from './abandoned.ts'
import type { PreparedState } from './child-env.ts'
import { DumpFiles } from './dump-files.ts'
import type { FifoPool } from './fifo-pool.ts'
import type { JobTable } from './job-table.ts'
import { launch } from './launch.ts'
import { sharedReadBuffer } from './output-reader.ts'
import type { PtyStart } from './pty-start.ts'
import { isQuietText } from './quiet-text.ts'
import { ReadyShells } from './ready-shells.ts'
import { startError } from './run-checks.ts'
import { newId, streaming } from './run-parts.ts'
import { RunningCommand } from './running-command.ts'
import type { FoundShell } from './shell-finder.ts'
import type { MarkedProcesses } from './tree-end.ts'

export interface CommandStarterOptions {
  shell: FoundShell | null
  runtimeDir: string
  logMaxBytes: number
  jobs: JobTable
  marked: MarkedProcesses
}

/** For whom, from which state and in which terminal a command starts. */
export interface StartOptions {
  context: CallContext
  prepared: PreparedState
  pty: ((id: string) => PtyStart) | undefined
}

/** Starts commands, each with its pipes and its place for the shell's state. */
export class CommandStarter {
  readonly dumps: DumpFiles
  /** None where the shell is no bash. */
  readonly ready: ReadyShells | undefined
  readonly #options: CommandStarterOptions
  readonly #fifos: FifoPool
  readonly #gateway: string
  readonly #buffer = sharedReadBuffer()

  constructor(options: CommandStarterOptions, fifos: FifoPool) {
    this.#options = options
    this.#fifos = fifos
    this.dumps = new DumpFiles(options.runtimeDir)
    this.#gateway = gatewayMark(options.runtimeDir)
    const { shell } = options
    if (shell?.kind === 'bash') this.ready = new ReadyShells({ shell: shell.path, gateway: this.#gateway, fifos })
  }

  /** Makes pipes ahead of the first command. */
  warm(): void {
    this.#fifos.warm()
  }

  /** Throws where nothing can be started. A process that could not be made shows by the missing `pid`. */
  start(params: RunParams, { context, prepared, pty }: StartOptions): RunningCommand {
    const { runtimeDir, jobs, logMaxBytes, marked } = this.#options
    const shell = this.#options.shell as FoundShell
    const { headBytes, tailBytes, command, env, session } = params
    const ready = isUsual(params) ? this.ready?.take(session, prepared) : undefined
    const id = ready?.id ?? newId()
    const quiet = shell.kind === 'bash' && params.input !== 'pty' && isQuietText(command, prepared, env)
    const dump = params.background || quiet ? undefined : this.dumps.take()
    const { link } = context
    const { folders } = jobs
    try {
      if (params.background) folders.create(id)
      const launched = launch(
        {
          ...{ id, shell, text: command, state: prepared, env, dump, quiet, runtimeDir },
          gateway: this.#gateway,
          exitRecord: folders.exitRecord(id),
          input: params.input === 'pipe',
          pty: pty?.(id),
        },
        { fifos: this.#fifos, ready },
      )
      const output = { headBytes, tailBytes, logPath: folders.log(id), logMaxBytes }
      const owner = { owner: link.owner, link: link.id, session }
      return new RunningCommand({
        ...{ id, command, owner, launched, dump, output, marked, holder: pty !== undefined },
        buffer: this.#buffer,
        onChunk: streaming(params, context),
      })
    } catch (error) {
      ready?.dismiss()
      if (dump) this.dumps.release(dump, false)
      throw startError(error, shell)
    }
  }

  dispose(): void {
    this.ready?.dismissAll()
    this.#fifos.dispose()
    this.dumps.dispose()
  }
}

/** Whether a command asks for nothing that a shell must have from its start. */
function isUsual({ background, env, input = 'none' }: RunParams): boolean {
  return !background && input === 'none' && Object.keys(env ?? {}).length === 0
}
