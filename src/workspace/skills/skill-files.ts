import type { PortOptions } from '../ports.ts'
import type { Skill, SkillFile } from './port.ts'
import { SKILL_FILE } from './scan-partition.ts'
import type { SkillStore } from './skill-store.ts'

const MAX_HASHED = 256 * 1024 ** 2

/** The regular files of a skill, `SKILL.md` first, the others by path; `undefined` when there are too many to tell them all. */
export async function skillFiles(
  store: SkillStore,
  skill: Skill,
  { signal, hash = false }: PortOptions & { hash?: boolean },
): Promise<readonly SkillFile[] | undefined> {
  let cut = false
  const onCut = (): void => {
    cut = true
  }
  const tree = (await store.tree(skill.dir, { signal, onCut, ...(hash ? { hashUpTo: MAX_HASHED } : {}) })) ?? []
  if (cut) return undefined
  return tree
    .filter(({ type }) => type === 'file')
    .map(({ path, size, sha256 }) => ({ path, size, ...(sha256 === undefined ? {} : { sha256 }) }))
    .sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1))
}

const rank = ({ path }: SkillFile): number => (path === SKILL_FILE ? 0 : 1)
