import { closeSync, constants, openSync, readdirSync, unlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { FifoPool, InputPipe } from './fifo-pool.ts'
import { inputSocket } from './input-socket.ts'

const NAME = /^i-([0-9a-z]+)$/

/** Inputs of terminals: named pipes that keep their names, so that a gateway that takes over a job can go on writing. */
export class PtyInputs {
  readonly #directory: string
  readonly #fifos: Pick<FifoPool, 'keep'>

  constructor(directory: string, fifos: Pick<FifoPool, 'keep'>) {
    this.#directory = directory
    this.#fifos = fifos
  }

  /** The child's end is open for both: without a writer it never meets the end of its input. */
  create(id: string): InputPipe {
    const path = this.#path(id)
    this.#fifos.keep(path)
    const read = openSync(path, constants.O_RDWR)
    try {
      return { read, write: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) }
    } catch (error) {
      closeSync(read)
      throw error
    }
  }

  remove(id: string): void {
    try {
      unlinkSync(this.#path(id))
    } catch {
      // the directory was emptied behind our back
    }
  }

  /** Removes what no running command needs any more. */
  removeOthers(isRunning: (id: string) => boolean): void {
    for (const name of namesIn(this.#directory)) {
      const id = NAME.exec(name)?.[1]
      if (id !== undefined && !isRunning(id)) this.remove(id)
    }
  }

  #path(id: string): string {
    return inputPath(this.#directory, id)
  }
}

/** Opens the input of a terminal that another gateway started; nothing where nobody reads it any more. */
export function reopenInput(directory: string, id: string): Socket | undefined {
  try {
    return inputSocket(openSync(inputPath(directory, id), constants.O_WRONLY | constants.O_NONBLOCK))
  } catch {
    return undefined
  }
}

function inputPath(directory: string, id: string): string {
  return `${directory}/i-${id}`
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
