import { posix } from 'node:path'
import { WorkspaceError } from '../lib/errors.ts'

export type ResourceRange = { kind: 'bytes'; offset: number; limit?: number } | { kind: 'lines'; first: number; last: number }

/** What a `workspace:` URI means. A file lies under the workdir; without `id`, or with `?root`, under the root. */
export type ResourceTarget =
  | { kind: 'all' }
  | { kind: 'status'; id: string }
  | { kind: 'file'; id?: string; path: string; range?: ResourceRange; fromRoot?: true }

const URI = /^workspace:\/\/([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/i

/** Reads a `workspace:` URI; throws `invalid_argument` for a bad range or escape, `not_found` for another scheme. */
export function parseResourceUri(uri: string): ResourceTarget {
  const match = URI.exec(uri)
  if (match === null) {
    throw new WorkspaceError('not_found', `There is no resource "${uri}".`, {
      hint: 'Resources are workspace://<id>/<path>; workspace:// lists the workspaces.',
    })
  }
  const [, host = '', path, query] = match
  const id = decode(host, uri)
  const values = new URLSearchParams(query)
  const fromRoot = values.has('root')
  values.delete('root')
  const range = parseRange(values, uri)
  if (path === undefined) return id === '' ? { kind: 'all' } : { kind: 'status', id }
  const target = {
    kind: 'file' as const,
    path: relativePath(decode(path.slice(1), uri), uri),
    ...(range !== undefined && { range }),
  }
  return id === '' ? target : { ...target, id, ...(fromRoot && { fromRoot }) }
}

function decode(text: string, uri: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new WorkspaceError('invalid_argument', `"${uri}" has a broken %-escape.`, { cause })
  }
}

function relativePath(path: string, uri: string): string {
  if (path.includes('\0')) throw new WorkspaceError('invalid_argument', `"${uri}" holds a NUL character.`)
  const normal = posix.normalize(`./${path}`)
  if (normal === '..' || normal.startsWith('../')) {
    throw new WorkspaceError('permission_denied', `"${uri}" leaves the workspace.`, {
      hint: 'Use the Read tool for a file elsewhere.',
    })
  }
  return normal === '.' || normal === './' ? '' : normal.replace(/\/$/, '')
}

function parseRange(values: URLSearchParams, uri: string): ResourceRange | undefined {
  const known = ['offset', 'limit', 'lines']
  const odd = [...values.keys()].find(key => !known.includes(key))
  if (odd !== undefined) throw badRange(uri, `does not know "${odd}"`)
  const lines = values.get('lines')
  if (lines !== null) return parseLines(lines, uri)
  const offset = wholeNumber(values.get('offset') ?? '0')
  const limit = values.has('limit') ? wholeNumber(values.get('limit') ?? '') : undefined
  if (offset === undefined || (values.has('limit') && limit === undefined)) throw badRange(uri, 'needs whole numbers of bytes')
  return values.size === 0 ? undefined : { kind: 'bytes', offset, ...(limit !== undefined && { limit }) }
}

function parseLines(lines: string, uri: string): ResourceRange {
  const [, from, to] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(lines) ?? []
  const first = Number(from)
  const last = to === undefined ? first : Number(to)
  if (from === undefined || first < 1 || last < first) throw badRange(uri, `can't read "lines=${lines}"`)
  return { kind: 'lines', first, last }
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function badRange(uri: string, why: string): WorkspaceError {
  return new WorkspaceError('invalid_argument', `The range of "${uri}" ${why}.`, {
    hint: 'A range is ?lines=a-b, or ?offset=&limit= in bytes.',
  })
}
