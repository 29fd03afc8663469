import { createHash } from 'node:crypto'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import { KeyedLock } from '../../lib/keyed-lock.ts'
import type { GatewayCalls } from '../environment-link.ts'

/** So often a change is made anew because somebody else was quicker. */
const TRIES = 50
const MAX_BYTES = 8 * 1024 * 1024

/** A small text file in a workspace that several hosts change: each change is made on what is there, and none is lost. */
export class StateFile {
  readonly #gateway: GatewayCalls
  readonly #path: string
  readonly #lock = new KeyedLock()

  constructor(gateway: GatewayCalls, path: string) {
    this.#gateway = gateway
    this.#path = path
  }

  /** The text; `undefined` where there is no file. */
  async read(): Promise<string | undefined> {
    const chunks: Uint8Array[] = []
    let size = 0
    const onChunk = (chunk: Uint8Array): void => {
      size += chunk.length
      if (size > MAX_BYTES) throw new WorkspaceError('too_large', `${this.#path} has more than ${MAX_BYTES} bytes.`)
      chunks.push(chunk)
    }
    try {
      await this.#gateway.call('file.get', { path: this.#path }, { onChunk })
    } catch (error) {
      if (toWorkspaceError(error).code === 'not_found') return undefined
      throw error
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  /** Replaces the text by what `change` makes of it, atomically; `undefined` leaves it. May call `change` several times. */
  update<T>(change: (text: string | undefined) => { text: string | undefined; result: T }): Promise<T> {
    return this.#lock.run('', async () => {
      for (let tries = 1; ; tries++) {
        const before = await this.read()
        const { text, result } = change(before)
        if (text === undefined || text === before) return result
        try {
          await this.#replace(before, text)
          return result
        } catch (error) {
          if (toWorkspaceError(error).code !== 'precondition_failed' || tries >= TRIES) throw error
        }
      }
    })
  }

  async #replace(before: string | undefined, text: string): Promise<void> {
    const replaces = before === undefined ? null : createHash('sha256').update(before).digest('hex')
    const input = (async function* () {
      yield Buffer.from(text)
    })()
    await this.#gateway.call('file.put', { path: this.#path, mode: 0o600, replaces }, { input })
  }
}
