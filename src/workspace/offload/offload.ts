import { posix } from 'node:path'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { GatewayCalls } from '../environment-link.ts'
import { type Layout, layoutOf, pathSegment, sessionFolder } from '../layout.ts'
import type { PortOptions } from '../ports.ts'
import { workspaceUri } from '../workspace-uri.ts'
import type { Blob } from './blob.ts'
import { inChunks, storeBlobs } from './blob-store.ts'
import { dataOf, isFields } from './data-block.ts'
import { listOffloads } from './list-offloads.ts'
import type { Offload, Offloaded, OffloadedBlock, OffloadedContext } from './offloader.ts'
import { messagesPreview, textPreview } from './preview.ts'
import { blobUri, replaceData } from './replace-data.ts'
import { sweepBlobs } from './sweep.ts'
import { readToolResult, resultText } from './tool-result.ts'

/** Only the owner may read conversations. */
const MODE = 0o600
/** What is no larger travels in the request itself. */
const SMALL_BYTES = 16 * 1024
/** Names that one id may take. */
const MAX_NAMES = 10_000

/** Offloads into the folders under `root`, in AgentScope's layout; every path stays under it, links resolved. */
export function createOffload(gateway: GatewayCalls, { root, workdir }: { root: string; workdir: string }): Offload {
  const place = new OffloadPlace(gateway, root)
  return {
    offloadContext: (session, messages, options) => place.context(session, messages, options),
    offloadToolResult: (session, result, options) => place.toolResult(session, result, options),
    offloadDataBlock: (block, options) => place.dataBlock(block, options),
    list: (session, options) => listOffloads(gateway, root, { ...options, session }),
    async purgeSession(session, options) {
      const path = sessionFolder(layoutOf(root), session)
      return (await gateway.call('file.remove', { path, confine: root, recursive: true }, options)).removed
    },
    sweep: options => sweepBlobs(gateway, { root, workdir }, options),
  }
}

class OffloadPlace {
  readonly #gateway: GatewayCalls
  readonly #root: string
  readonly #layout: Layout

  constructor(gateway: GatewayCalls, root: string) {
    this.#gateway = gateway
    this.#root = root
    this.#layout = layoutOf(root)
  }

  async context(session: string, messages: readonly unknown[], options: PortOptions = {}): Promise<OffloadedContext> {
    const path = posix.join(sessionFolder(this.#layout, session), 'context.jsonl')
    const blobs = new Map<string, Blob>()
    const lines = Buffer.from(messages.map((message, index) => line(message, index, blobs)).join(''))
    const found = { path, uri: this.#uri(path), size: lines.length, messages: messages.length }
    const preview = messagesPreview(messages)
    if (messages.length === 0) return { ...found, preview, blobs: [] }
    const stored = await this.#store(blobs, options)
    const { offset } = await this.#append(path, lines, options)
    return { ...found, preview, blobs: stored, ...(offset === undefined ? {} : { offset }) }
  }

  async toolResult(session: string, result: unknown, options: PortOptions = {}): Promise<Offloaded> {
    const { id, ...read } = readToolResult(result)
    const folder = sessionFolder(this.#layout, session)
    const blobs = new Map<string, Blob>()
    const text = resultText(read, blobs)
    await this.#store(blobs, options)
    const bytes = Buffer.from(text)
    const path = await this.#putFirstFree(posix.join(folder, `tool_result-${pathSegment(id)}`), bytes, options)
    return { path, uri: this.#uri(path), size: bytes.length, preview: textPreview(text) }
  }

  async dataBlock(block: unknown, options: PortOptions = {}): Promise<OffloadedBlock> {
    const found = isFields(block) ? dataOf(block) : undefined
    if (found === undefined) {
      if (isFields(block) && isFields(block.source) && block.source.type === 'base64')
        throw new WorkspaceError('invalid_argument', 'The data of the block is no base64 text.')
      return { block, preview: isFields(block) ? `(${String(block.type ?? 'block')} without data of its own)` : '' }
    }
    const { name, bytes, mediaType } = found.blob
    const [blob] = await this.#store(new Map([[name, found.blob]]), options)
    const reference = found.withReference({ uri: blobUri(name), size: bytes.length })
    return { block: reference, preview: `(${mediaType}, ${bytes.length} bytes)`, blob: blob! }
  }

  #append(path: string, lines: Buffer, options: PortOptions) {
    const request = { path, confine: this.#root, mode: MODE, ownLine: true }
    return lines.length <= SMALL_BYTES
      ? this.#gateway.call('file.append', { ...request, data: lines.toString() }, options)
      : this.#gateway.call('file.append', request, { ...options, input: inChunks(lines) })
  }

  #store(blobs: ReadonlyMap<string, Blob>, options: PortOptions) {
    return storeBlobs(this.#gateway, { root: this.#root, data: this.#layout.data }, { ...options, blobs: blobs.values() })
  }

  async #putFirstFree(stem: string, bytes: Buffer, options: PortOptions): Promise<string> {
    for (let taken = 0; taken < MAX_NAMES; taken += 1) {
      const path = `${stem}${taken === 0 ? '' : `(${taken})`}.txt`
      const at = { path, confine: this.#root }
      if (taken > 0 && (await this.#gateway.call('file.stat', at, options)).type !== 'missing') continue
      try {
        await this.#gateway.call('file.put', { ...at, mode: MODE, exclusive: true }, { ...options, input: inChunks(bytes) })
        return path
      } catch (error) {
        if (toWorkspaceError(error).code !== 'already_exists') throw error
      }
    }
    throw new WorkspaceError('limit_exceeded', `${stem}.txt and ${MAX_NAMES - 1} names after it are taken.`, {
      hint: 'Use another id.',
    })
  }

  #uri(path: string): string {
    return workspaceUri('', posix.relative(this.#root, path))
  }
}

function line(message: unknown, index: number, blobs: Map<string, Blob>): string {
  if (!isFields(message) && (typeof message !== 'object' || message === null || Array.isArray(message)))
    throw new WorkspaceError('invalid_argument', `Message ${index + 1} is no object.`, {
      hint: 'Give a list of messages, each with a role and content.',
    })
  try {
    return `${JSON.stringify(replaceData(message, blobs))}\n`
  } catch (error) {
    if (error instanceof WorkspaceError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new WorkspaceError('invalid_argument', `Message ${index + 1} can't be written as JSON: ${why}.`, { cause: error })
  }
}
