import type { RunParams } from '../protocol-commands.ts'
import type { FifoPool } from './fifo-pool.ts'
import { type HolderName, PtyHolders } from './pty-holder.ts'
import { PtyInputs } from './pty-input.ts'
import { checkSize } from './pty-size.ts'
import { type PtyStart, ptyStart } from './pty-start.ts'

/** Prepares commands that get a terminal. */
export class PtyStarts {
  readonly inputs: PtyInputs
  readonly #holders: PtyHolders

  constructor(options: { directory: string; fifos: FifoPool; holders?: readonly HolderName[] | undefined }) {
    this.inputs = new PtyInputs(options.directory, options.fifos)
    this.#holders = new PtyHolders(options.holders)
  }

  /** How to start a run in its terminal, by its id; throws `unsupported` where nothing here can hold one. */
  async prepare(params: RunParams, path: string): Promise<(id: string) => PtyStart> {
    const size = checkSize(params.terminal)
    const holder = await this.#holders.find(path)
    return id => ptyStart(id, { holder, size, inputs: this.inputs })
  }
}
