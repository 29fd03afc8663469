import { posix } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import type { PortOptions } from '../ports.ts'
import { type HeaderCache, MAX_SKILL_FILE } from './header-cache.ts'
import { type FoundSkill, type Scan, SKILL_FILE } from './scan-partition.ts'
import { skillFiles } from './skill-files.ts'
import { folderOf, free, judge } from './skill-rules.ts'
import { digestOfFiles } from './skill-seeds.ts'
import type { SkillStore } from './skill-store.ts'

export interface InstallOptions extends PortOptions {
  partition: string
  /** What the partition holds. */
  scan: Scan
  parts: { store: SkillStore; seeds: { headers: HeaderCache } }
}

/** Tries to find a free folder; another host may take one meanwhile. */
const TRIES = 10

/** Moves a staged skill into a partition, by a folder that is free. The very same skill is not added twice. */
export async function installSkill(staged: string, options: InstallOptions): Promise<{ folder: string; added: boolean }> {
  const { partition, scan, parts } = options
  const { name, hash } = await checked(staged, options)
  const twin = scan.skills.find(skill => skill.hash === hash)
  if (twin !== undefined) return sameAs(twin, { staged, store: parts.store })
  const plain = folderOf(name)
  const tried = new Set<string>()
  while (tried.size < TRIES) {
    const folder = await freeFolder(plain, { partition, tried, store: parts.store })
    if (await parts.store.move(staged, posix.join(partition, folder))) return { folder, added: true }
    tried.add(folder)
  }
  throw new WorkspaceError('unavailable', `No folder is free for the skill ${JSON.stringify(name)} in ${partition}.`)
}

/** The name and hash of the staged skill; throws with rule and fix where it is unusable. */
async function checked(staged: string, { parts, signal }: InstallOptions): Promise<{ name: string; hash: string }> {
  const path = posix.join(staged, SKILL_FILE)
  const { size } = await parts.store.stat(path, { signal })
  const content = await parts.store.read(path, Math.min(size, MAX_SKILL_FILE + 1), { signal, within: staged })
  const [header] = await parts.seeds.headers.read([content], signal)
  const verdict = judge(header!.frontmatter)
  if ('rule' in verdict)
    throw new WorkspaceError('invalid_argument', `The skill was not added: in ${SKILL_FILE}, ${verdict.rule}.`, {
      hint: verdict.fix,
    })
  return { name: verdict.name, hash: header!.hash }
}

async function sameAs(twin: FoundSkill, { staged, store }: { staged: string; store: SkillStore }) {
  const [mine, theirs] = await Promise.all([staged, twin.dir].map(dir => digest(store, { ...twin, dir })))
  if (mine !== undefined && mine === theirs) return { folder: twin.folder, added: false }
  throw new WorkspaceError(
    'already_exists',
    `The skill ${JSON.stringify(twin.name)} has the same ${SKILL_FILE} already, but other files beside it.`,
    {
      hint: 'Remove it with skill_remove first, then add this one.',
    },
  )
}

async function digest(store: SkillStore, skill: FoundSkill): Promise<string | undefined> {
  const files = await skillFiles(store, skill, { hash: true })
  return files && digestOfFiles(new Map(files.map(({ path, sha256 = '' }) => [path, sha256])))
}

async function freeFolder(
  plain: string,
  { partition, tried, store }: { partition: string; tried: Set<string>; store: SkillStore },
) {
  const there = new Set((await store.tree(partition, { depth: 1 }))?.map(({ path }) => path))
  return free(
    plain,
    name => there.has(name) || tried.has(name),
    n => `${plain}_${n}`,
  )
}
