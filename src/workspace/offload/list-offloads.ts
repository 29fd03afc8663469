import { posix } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import type { GatewayCalls } from '../environment-link.ts'
import { layoutOf, pathSegment, sessionFolder } from '../layout.ts'
import type { PortOptions } from '../ports.ts'
import { workspaceUri } from '../workspace-uri.ts'
import type { OffloadEntry } from './offloader.ts'

/** Entries looked at in `sessions/`. */
const MAX_ENTRIES = 100_000
const NAME = /^(?:(context)\.jsonl|tool_result-.*\.txt)$/s

/** The offloaded files of one session, or of all. */
export async function listOffloads(
  gateway: GatewayCalls,
  root: string,
  { session, ...options }: PortOptions & { session: string | undefined },
): Promise<OffloadEntry[]> {
  const { sessions } = layoutOf(root)
  const folder = session === undefined ? sessions : sessionFolder(layoutOf(root), session)
  if ((await gateway.call('file.stat', { path: folder, confine: root }, options)).type !== 'directory') return []
  const depth = session === undefined ? 2 : 1
  const tree = await gateway.call('file.tree', { path: folder, confine: root, limit: MAX_ENTRIES, depth }, options)
  if (tree.truncated) throw new WorkspaceError('too_large', `There are more than ${MAX_ENTRIES} files in ${folder}.`)
  return tree.entries.flatMap(entry => {
    const path = posix.join(folder, entry.path)
    const [segment = '', name = '', ...deeper] = posix.relative(sessions, path).split('/')
    const kind = NAME.exec(name)
    if (entry.type !== 'file' || kind === null || deeper.length > 0) return []
    const about = { path, uri: workspaceUri('', posix.relative(root, path)), size: entry.size, mtimeMs: entry.mtimeMs }
    return [{ session: session ?? sessionOf(segment), kind: kind[1] === undefined ? 'tool_result' : 'context', ...about }]
  })
}

/** The id that a folder's name stands for; a shortened one stands for itself. */
function sessionOf(segment: string): string {
  try {
    const id = decodeURIComponent(segment)
    return pathSegment(id) === segment ? id : segment
  } catch {
    return segment
  }
}
