import { posix } from 'node:path'
import { toWorkspaceError } from '../lib/errors.ts'
import { count, formatBytes } from '../tools/units.ts'
import type { Files } from '../workspace/ports.ts'

/** What lies below a path; `complete` is false where a bound ended the count. */
export interface TreeSize {
  files: number
  bytes: number
  complete: boolean
}

const MAX_FOLDERS = 200
const MAX_MS = 1_500

/** Counts a folder or file through the workspace's gateway, within bounds; `undefined` when it isn't there. */
export async function treeSize(files: Pick<Files, 'stat' | 'list'>, path: string): Promise<TreeSize | undefined> {
  const top = await files.stat(path)
  if (top.type === 'missing') return undefined
  if (top.type !== 'directory') return { files: 1, bytes: top.size, complete: true }
  const size: TreeSize = { files: 0, bytes: 0, complete: true }
  const folders = [path]
  const end = performance.now() + MAX_MS
  for (let visited = 0; folders.length > 0; visited++) {
    if (visited >= MAX_FOLDERS || performance.now() > end) return { ...size, complete: false }
    folders.push(...(await addFolder(files, folders.pop() ?? path, size)))
  }
  return size
}

/** A size for people: "3 files, 12 KB", "over 900 files, over 2.1 GB". */
export function describeSize({ files, bytes, complete }: TreeSize): string {
  const over = complete ? '' : 'over '
  return `${over}${count(files, 'file')}, ${over}${formatBytes(bytes)}`
}

async function addFolder(files: Pick<Files, 'list'>, path: string, size: TreeSize): Promise<string[]> {
  try {
    const { entries, truncated } = await files.list(path)
    if (truncated) size.complete = false
    for (const entry of entries) {
      if (entry.type === 'directory') continue
      size.files++
      size.bytes += entry.size
    }
    return entries.filter(entry => entry.type === 'directory').map(entry => posix.join(path, entry.name))
  } catch (error) {
    // It went away meanwhile, or can't be read: what is there is more than what was counted.
    if (!['not_found', 'permission_denied'].includes(toWorkspaceError(error).code)) throw error
    size.complete = false
    return []
  }
}
