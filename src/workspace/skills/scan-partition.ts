import { posix } from 'node:path'
import type { TreeEntry } from '../../gateway/protocol.ts'
import { type Header, type HeaderCache, MAX_SKILL_FILE } from './header-cache.ts'
import type { Skill, SkippedSkill } from './port.ts'
import { INDEX_FILE, parseIndex, type SkillIndex } from './skill-index.ts'
import { free, judge } from './skill-rules.ts'
import type { SkillStore } from './skill-store.ts'

export const SKILL_FILE = 'SKILL.md'

/** A skill as it was found, with the hash of its `SKILL.md`. */
export interface FoundSkill extends Skill {
  hash: string
  body: string
}

export interface Scan {
  skills: FoundSkill[]
  skipped: SkippedSkill[]
}

/** A partition's skills by the names that the agent uses; `undefined` where there is no such folder. */
export async function scanPartition(
  partition: string,
  parts: { store: SkillStore; headers: HeaderCache; signal?: AbortSignal | undefined },
): Promise<Scan | undefined> {
  const { store, headers, signal } = parts
  let cut = false
  const onCut = (): void => {
    cut = true
  }
  const tree = await store.tree(partition, { depth: 2, signal, onCut })
  if (tree === undefined) return undefined
  const at = (path: string): string => posix.join(partition, path)
  const { files, skipped } = skillFiles(tree, at)
  if (cut)
    skipped.push({ path: partition, rule: 'it holds too many files to look at all', fix: 'Put them into folders of the skills.' })
  const contents = files.map(file =>
    store.read(at(file.path), Math.min(file.size, MAX_SKILL_FILE + 1), { within: at(posix.dirname(file.path)), signal }),
  )
  const [index, ...texts] = await Promise.all([readIndex(partition, tree, store), ...contents])
  const read = await headers.read(texts, signal)
  const found: FoundSkill[] = []
  for (const file of inOrder(files, index)) {
    const header = read[files.indexOf(file)]!
    const skill = judged(file, header, at)
    const twin = found.find(other => other.hash === header.hash)
    if ('rule' in skill) skipped.push(skill)
    else if (twin === undefined) found.push(skill)
    else skipped.push(twinOf(skill, twin))
  }
  return { skills: named(found, index).sort((a, b) => (a.name < b.name ? -1 : 1)), skipped }
}

/** The `SKILL.md` of each folder, and the folders that have none. */
function skillFiles(tree: readonly TreeEntry[], at: (path: string) => string) {
  const files: TreeEntry[] = []
  const skipped: SkippedSkill[] = []
  for (const folder of tree) {
    if (folder.type !== 'directory' || folder.path.includes('/') || folder.path.startsWith('.')) continue
    const inside = tree.filter(({ path }) => posix.dirname(path) === folder.path)
    const file = inside.find(({ path }) => posix.basename(path) === SKILL_FILE)
    const alike = inside.find(({ path }) => posix.basename(path).toLowerCase() === SKILL_FILE.toLowerCase())
    if (file?.type === 'file') files.push(file)
    else if (file !== undefined)
      skipped.push({ path: at(file.path), rule: `${SKILL_FILE} is no regular file`, fix: 'Put the file itself there.' })
    else if (alike !== undefined)
      skipped.push({ path: at(alike.path), rule: `the file is not called ${SKILL_FILE}`, fix: `Rename it to ${SKILL_FILE}.` })
    else
      skipped.push({
        path: at(folder.path),
        rule: `there is no ${SKILL_FILE}`,
        fix: `Write ${SKILL_FILE}, or remove the folder.`,
      })
  }
  return { files, skipped }
}

async function readIndex(partition: string, tree: readonly TreeEntry[], store: SkillStore): Promise<SkillIndex> {
  const entry = tree.find(({ path, type }) => path === INDEX_FILE && type === 'file')
  if (entry === undefined) return new Map()
  const bytes = await store.read(posix.join(partition, INDEX_FILE), Math.min(entry.size, MAX_SKILL_FILE), { within: partition })
  return parseIndex(bytes.toString('utf8'))
}

/** Those that the index knows first, in its order: of twins the older one stays. */
function inOrder(files: readonly TreeEntry[], index: SkillIndex): TreeEntry[] {
  const known = [...index.keys()]
  const rank = ({ path }: TreeEntry): number => {
    const position = known.indexOf(posix.dirname(path))
    return position === -1 ? known.length : position
  }
  return [...files].sort((a, b) => rank(a) - rank(b))
}

function judged(file: TreeEntry, { hash, frontmatter }: Header, at: (path: string) => string): FoundSkill | SkippedSkill {
  const folder = posix.dirname(file.path)
  const verdict = judge(frontmatter, folder)
  if ('rule' in verdict) return { path: at(file.path), ...verdict }
  const { fields, ...rest } = verdict
  return { ...rest, dir: at(folder), folder, frontmatter: fields, updatedAt: file.mtimeMs, hash }
}

const twinOf = (skill: FoundSkill, twin: FoundSkill): SkippedSkill => ({
  path: posix.join(skill.dir, SKILL_FILE),
  rule: `it is the same as that of ${twin.dir}`,
  fix: 'Remove one of the two folders.',
})

/** Names that the index gave stay; the others get ` (n)` where their own is taken. */
function named(skills: readonly FoundSkill[], index: SkillIndex): FoundSkill[] {
  const given = new Map<string, string>()
  const taken = (name: string): boolean => [...given.values()].includes(name)
  for (const { folder, name } of skills) {
    const kept = index.get(folder)?.name
    if (kept !== undefined && isNumbered(kept, name) && !taken(kept)) given.set(folder, kept)
  }
  for (const { folder, name } of skills) {
    if (!given.has(folder))
      given.set(
        folder,
        free(name, taken, n => `${name} (${n})`),
      )
  }
  return skills.map(skill => ({ ...skill, name: given.get(skill.folder)! }))
}

const isNumbered = (kept: string, name: string): boolean =>
  kept === name || (kept.startsWith(`${name} (`) && /^\(\d+\)$/.test(kept.slice(name.length + 1)))
