import type { TerminalSize } from '../protocol-commands.ts'
import { loudEnvironment } from './child-env.ts'
import type { InputPipe } from './fifo-pool.ts'
import { OWN_SHELL, type PtyHolder } from './pty-holder.ts'
import type { PtyInputs } from './pty-input.ts'

/** All that differs in the start of a command that gets a terminal. */
export interface PtyStart {
  command(path: string, args: readonly string[]): { path: string; args: string[] }
  environment(env: Readonly<Record<string, string>>): Record<string, string>
  /** Opens the input; its name stays, so that a later gateway can write to it. */
  input(): InputPipe
  /** Removes that name. */
  cleanup(): void
}

/** The start of run `id` in a terminal of the given size, held by `holder`. */
export function ptyStart(id: string, options: { holder: PtyHolder; size: TerminalSize; inputs: PtyInputs }): PtyStart {
  const { holder, size, inputs } = options
  return {
    command: holder.command,
    environment: env => holder.environment({ ...terminalEnvironment(env), _B: `${prepare(size)} ${env._B ?? ''}` }),
    input: () => inputs.create(id),
    cleanup: () => inputs.remove(id),
  }
}

/** What programs expect of a terminal; those settings that keep them from asking are gone. */
function terminalEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const { LINES: _lines, COLUMNS: _columns, ...rest } = loudEnvironment(env)
  const unicode = rest.LC_ALL || rest.LC_CTYPE || rest.LANG ? {} : { LC_CTYPE: 'C.UTF-8' }
  return { ...rest, ...unicode, TERM: 'xterm-256color' }
}

/** Boot code that comes first: the user's own SHELL again, then a terminal in its usual state and size. */
function prepare({ columns, rows }: TerminalSize): string {
  const shell = `case \${${OWN_SHELL}+x} in x) SHELL=$${OWN_SHELL}; export SHELL; unset ${OWN_SHELL};; *) unset SHELL;; esac;`
  const stty = 'PATH="$PATH:/usr/bin:/bin" command stty'
  return `${shell} { ${stty} sane rows ${rows} cols ${columns}; ${stty} iutf8; } 2>/dev/null;`
}
