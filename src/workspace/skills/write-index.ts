import { posix } from 'node:path'
import type { FoundSkill } from './scan-partition.ts'
import { INDEX_FILE, renderIndex } from './skill-index.ts'
import { contentOf, type SkillStore } from './skill-store.ts'

/** Writes down the names of a partition's skills, so that they stay, and other programs find them. */
export async function writeIndex(store: SkillStore, partition: string, skills: readonly FoundSkill[]): Promise<void> {
  const { type, mtimeMs } = await store.stat(partition)
  if (type !== 'directory') return
  const entries = new Map(skills.map(({ folder, hash, name }) => [folder, { hash, name }]))
  await store.put(posix.join(partition, INDEX_FILE), contentOf(renderIndex(entries, mtimeMs)), { mode: 0o644 })
}
