import { createHash } from 'node:crypto'
import type { PortOptions } from '../ports.ts'
import { INDEX_FILE } from './skill-index.ts'
import type { SkillStore } from './skill-store.ts'

/** A text that changes when a file of a partition does: paths, sizes and times, not contents. */
export async function partitionVersion(store: SkillStore, partition: string, options: PortOptions): Promise<string> {
  const tree = await store.tree(partition, options)
  if (tree === undefined) return 'none'
  const lines = tree
    .filter(({ path }) => path !== INDEX_FILE)
    // A folder's own time says nothing that its entries do not.
    .map(({ path, type, size, mtimeMs }) => (type === 'directory' ? `${path}/` : `${path} ${type} ${size} ${mtimeMs}`))
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}
