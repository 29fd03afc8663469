import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { workspaceUri } from '../workspace/workspace-uri.ts'
import { mediaTypeOf, textOf } from './media.ts'
import { RpcError } from './method.ts'
import type { ResourceRange, ResourceTarget } from './resource-uri.ts'

/** Most bytes of one answer; more is read in ranges. */
export const RESOURCE_MAX_BYTES = 1024 ** 2 - 3
/** Bytes that may follow the first of a code point. */
const CODE_POINT_REST = 3

export interface ReadRequest {
  uri: string
  workspace: Workspace
  /** Directory that the path is under. */
  base: string
  path: string
  range: ResourceRange | undefined
  session: string
  signal: AbortSignal
}

export type ResourceContents = { uri: string; mimeType: string } & ({ text: string } | { blob: string })

/** Directory that the path of a URI is under. */
export function baseOf({ info }: Workspace, target: ResourceTarget & { kind: 'file' }, uri: string): string {
  const base = target.id === undefined || target.fromRoot ? info.root : info.workdir
  if (base === '') throw new WorkspaceError('unsupported', `The workspace of "${uri}" has no such directory.`)
  return base
}

/** Full path of what a URI means, inside its base. */
export function fullPath(base: string, path: string): string {
  return path === '' ? base : `${base.replace(/\/$/, '')}/${path}`
}

/** What a method on resources throws: the protocol has a code of its own for what is not there. */
export function resourceError(thrown: unknown, uri: unknown): Error {
  if (thrown instanceof RpcError) return thrown
  const error = toWorkspaceError(thrown)
  return error.code === 'not_found' ? new RpcError(-32002, error.text, { uri }) : error
}

/** A file (or the asked part of it) as text where it is UTF-8, else as a blob; a directory as a JSON listing with URIs. */
export async function readResource(request: ReadRequest): Promise<ResourceContents> {
  const { workspace, signal, uri, range } = request
  const full = fullPath(request.base, request.path)
  const stat = await workspace.files.stat(full, { signal })
  if (stat.type === 'missing') throw new WorkspaceError('not_found', `There is no file for "${uri}".`)
  if (stat.type === 'directory') return listing(request, full)
  if (stat.type !== 'file') throw new WorkspaceError('unsupported', `"${uri}" is a ${stat.type}, not a regular file.`)
  if (range?.kind === 'lines') return lines(request, full, range)
  return bytes(request, full, { size: stat.size, range })
}

async function bytes(
  request: ReadRequest,
  full: string,
  part: { size: number; range: (ResourceRange & { kind: 'bytes' }) | undefined },
) {
  const { uri, workspace, signal } = request
  const offset = part.range?.offset ?? 0
  const wanted = part.range?.limit ?? Math.max(0, part.size - offset)
  if (wanted > RESOURCE_MAX_BYTES) {
    throw new WorkspaceError('too_large', `"${uri}" would give ${wanted} bytes; one answer holds ${RESOURCE_MAX_BYTES}.`, {
      hint: `The file has ${part.size} bytes: add ?offset=${offset}&limit=${RESOURCE_MAX_BYTES}, or ?lines=1-500.`,
    })
  }
  if (wanted === 0) return { uri, mimeType: mediaTypeOf(full, true), text: '' }
  const ahead = wanted + CODE_POINT_REST
  const { data } = await workspace.files.bytes(full, { offset, length: ahead }, { signal })
  const length = Math.min(wanted, data.length)
  const text = textOf(data, { length, inside: offset > 0 })
  if (text !== undefined) return { uri, mimeType: mediaTypeOf(full, true), text }
  return { uri, mimeType: mediaTypeOf(full, false), blob: Buffer.from(data.subarray(0, length)).toString('base64') }
}

async function lines(request: ReadRequest, full: string, range: { first: number; last: number }): Promise<ResourceContents> {
  const { uri, workspace, session, signal } = request
  const limit = range.last - range.first + 1
  const result = await workspace.files.read({ session, path: full, offset: range.first, limit }, { signal })
  if (result.kind === 'binary') {
    throw new WorkspaceError('invalid_argument', `"${uri}" is no text.`, { hint: 'Ask for ?offset=&limit= in bytes.' })
  }
  if (result.byteLimited || result.cutLines.length > 0) {
    const fitting = range.first + Math.max(0, result.lines.length - 1)
    throw new WorkspaceError('too_large', `Lines ${range.first}-${range.last} of "${uri}" are more than one answer holds.`, {
      hint:
        result.cutLines.length > 0
          ? 'Some lines are very long: ask for ?offset=&limit= in bytes.'
          : `Ask for ?lines=${range.first}-${fitting} first.`,
    })
  }
  return { uri, mimeType: mediaTypeOf(full, true), text: result.lines.map(line => `${line}\n`).join('') }
}

async function listing({ uri, workspace, signal, path }: ReadRequest, full: string): Promise<ResourceContents> {
  const { entries, truncated } = await workspace.files.list(full, { signal })
  const rooted = uri.toLowerCase().startsWith('workspace:///')
  const named = entries.map(entry => {
    const inside = path === '' ? entry.name : `${path}/${entry.name}`
    const fromRoot = /[?&]root(&|=|$)/.test(uri) ? '?root' : ''
    return { ...entry, uri: rooted ? workspaceUri('', inside) : workspaceUri(workspace.id, inside) + fromRoot }
  })
  return { uri, mimeType: 'application/json', text: JSON.stringify({ path: full, entries: named, truncated }, null, 2) }
}
