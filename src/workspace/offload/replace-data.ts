import { WorkspaceError } from '../../lib/errors.ts'
import { workspaceUri } from '../workspace-uri.ts'
import { type Blob, blobOf } from './blob.ts'
import { dataOf, isFields } from './data-block.ts'

const MAX_DEPTH = 500

/** The reference to a blob, in AgentScope's form. */
export function blobUri(name: string): string {
  return workspaceUri('', `data/${name}`)
}

/**
 * A copy of any JSON-like value in which the data of every block, however deep, is a reference, and what was found, by name.
 * The value itself stays as it is, and parts without data are shared with it.
 */
export function replaceData<T>(value: T, blobs: Map<string, Blob>): T {
  return replaced(value, blobs, 0) as T
}

function replaced(value: unknown, blobs: Map<string, Blob>, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH)
    throw new WorkspaceError(
      'invalid_argument',
      `What is to be offloaded is nested more than ${MAX_DEPTH} levels deep, or in itself.`,
    )
  if (Array.isArray(value)) return eachChanged(value, item => replaced(item, blobs, depth + 1))
  if (value instanceof Uint8Array) return bytesReference(value, blobs)
  if (!isFields(value)) {
    const { toJSON } = value as { toJSON?: unknown }
    return typeof toJSON === 'function' ? replaced(toJSON.call(value), blobs, depth + 1) : withFields(value, blobs, depth)
  }
  const found = dataOf(value)
  if (found === undefined) return withFields(value, blobs, depth)
  blobs.set(found.blob.name, found.blob)
  return found.withReference({ uri: blobUri(found.blob.name), size: found.blob.bytes.length })
}

function withFields(value: object, blobs: Map<string, Blob>, depth: number): unknown {
  let changed = false
  const entries = Object.entries(value).map(([key, field]): [string, unknown] => {
    const now = replaced(field, blobs, depth + 1)
    changed ||= now !== field
    return [key, now]
  })
  return changed ? Object.fromEntries(entries) : value
}

function eachChanged(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let changed = false
  const made = list.map(item => {
    const now = change(item)
    changed ||= now !== item
    return now
  })
  return changed ? made : list
}

function bytesReference(bytes: Uint8Array, blobs: Map<string, Blob>): unknown {
  const blob = blobOf(bytes, 'application/octet-stream') as Blob
  blobs.set(blob.name, blob)
  return { type: 'url', url: blobUri(blob.name), media_type: blob.mediaType }
}
