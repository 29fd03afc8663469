import type { StatResult, TreeEntry } from '../../gateway/protocol.ts'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { GatewayCalls } from '../environment-link.ts'
import type { PortOptions } from '../ports.ts'

/** Files below one directory at most; a partition with more is cut. */
const MAX_ENTRIES = 20_000
const PIECE = 1024 ** 2

/** The file calls that skills are kept with, each confined to the folder that Atelier manages. */
export class SkillStore {
  readonly #gateway: GatewayCalls
  /** The folder of ours: nothing is written outside. */
  readonly root: string

  constructor(gateway: GatewayCalls, root: string) {
    this.#gateway = gateway
    this.root = root
  }

  /** All below a directory, `undefined` where there is none. `truncated` is said by the caller's `onCut`. */
  async tree(
    path: string,
    { signal, depth, hashUpTo, onCut }: PortOptions & { depth?: number; hashUpTo?: number; onCut?: () => void } = {},
  ): Promise<TreeEntry[] | undefined> {
    const bounds = { ...(depth === undefined ? {} : { depth }), ...(hashUpTo === undefined ? {} : { hashUpTo }) }
    try {
      const params = { path, confine: this.root, limit: MAX_ENTRIES, ...bounds }
      const { entries, truncated } = await this.#gateway.call('file.tree', params, { signal })
      if (truncated) onCut?.()
      return entries
    } catch (error) {
      if (toWorkspaceError(error).code === 'not_found') return undefined
      throw error
    }
  }

  stat(path: string, options: PortOptions = {}): Promise<StatResult> {
    return this.#gateway.call('file.stat', { path, confine: this.root }, { signal: options.signal })
  }

  /** The first `size` bytes of a file; links that lead out of `within` are refused. */
  async read(path: string, size: number, { signal, within }: PortOptions & { within: string }): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let offset = 0; offset < size; ) {
      const range = { path, confine: within, offset, length: Math.min(PIECE, size - offset) }
      const part = Buffer.from((await this.#gateway.call('file.bytes', range, { signal })).data, 'base64')
      if (part.length === 0) break
      parts.push(part)
      offset += part.length
    }
    return Buffer.concat(parts)
  }

  async put(path: string, content: AsyncIterable<Uint8Array>, options: PortOptions & { mode?: number } = {}): Promise<void> {
    const { signal, mode } = options
    const params = { path, confine: this.root, ...(mode === undefined ? {} : { mode }) }
    await this.#gateway.call('file.put', params, { signal, input: content })
  }

  /** Copies within the folder of ours. */
  copy(from: string, to: string, bounds: { exclude: string[]; maxFiles: number; maxBytes: number }) {
    return this.#gateway.call('file.copy', { path: from, to, confine: this.root, ...bounds })
  }

  /** False when something is at the target already. */
  async move(from: string, to: string): Promise<boolean> {
    try {
      await this.#gateway.call('file.move', { path: from, to, confine: this.root })
      return true
    } catch (error) {
      if (toWorkspaceError(error).code === 'already_exists') return false
      throw error
    }
  }

  async makeFolder(path: string): Promise<void> {
    await this.#gateway.call('file.mkdir', { path, confine: this.root })
  }

  async remove(path: string): Promise<boolean> {
    return (await this.#gateway.call('file.remove', { path, confine: this.root, recursive: true })).removed
  }
}

/** One text as the content of a file. */
export async function* contentOf(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof text === 'string' ? Buffer.from(text) : text
}
