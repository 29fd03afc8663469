/** What `.index` keeps of a partition's skills, by their folder. */
export type SkillIndex = ReadonlyMap<string, { hash: string; name: string }>

export const INDEX_FILE = '.index'

/** Reads an `.index`; one that is broken is as good as none. */
export function parseIndex(text: string): SkillIndex {
  const entries = new Map<string, { hash: string; name: string }>()
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return entries
  }
  const skills = field(parsed, 'skills')
  for (const [folder, entry] of Object.entries(typeof skills === 'object' && skills !== null ? skills : {})) {
    const [hash, name] = [field(entry, 'hash'), field(entry, 'skill_name')]
    if (typeof hash === 'string' && typeof name === 'string') entries.set(folder, { hash, name })
  }
  return entries
}

/** The text of an `.index`. */
export function renderIndex(entries: SkillIndex, folderMtimeMs: number): string {
  const skills = Object.fromEntries([...entries].map(([folder, { hash, name }]) => [folder, { hash, skill_name: name }]))
  return JSON.stringify({ skills_dir_mtime: folderMtimeMs / 1_000, skills }, null, 2)
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}
