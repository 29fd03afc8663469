import { posix } from 'node:path'
import type { TreeEntry } from '../../gateway/protocol.ts'
import type { Layout } from '../layout.ts'
import { SKILL_FILE } from './scan-partition.ts'
import { INDEX_FILE } from './skill-index.ts'
import { SKILL_LIMITS } from './skill-limits.ts'
import { folderOf, free } from './skill-rules.ts'
import { digestOfFiles, type Seed, type SkillSeeds } from './skill-seeds.ts'
import { contentOf, type SkillStore } from './skill-store.ts'
import type { Staging } from './staging.ts'

export const SEED_FOLDER = '.seed'
/** The index of the layout before partitions. */
const OLD_INDEX = '.skills'
const MAX_HASHED = 64 * 1024 ** 2

export interface SeedingParts {
  store: SkillStore
  staging: Staging
  layout: Layout
  seeds: SkillSeeds
}

/** Brings the older layout into the present one, and the host's skills into `.seed`. Changes nothing where nothing is new. */
export async function fillSeeds(parts: SeedingParts): Promise<void> {
  await migrate(parts)
  const seeds = await parts.seeds.read()
  if (seeds.length === 0) return
  const known = await readRecord(parts)
  const present = await seedFolders(parts)
  const record = new Map<string, string>()
  for (const seed of seeds) record.set(await place(parts, { seed, known, present }), seed.digest)
  const merged = new Map([...known, ...record])
  if ([...record].some(([folder, digest]) => known.get(folder) !== digest)) await writeRecord(parts, merged)
}

/** Skills that lay directly in `skills/`, as they did before there were partitions, become seeds. */
async function migrate({ store, layout }: SeedingParts): Promise<void> {
  const tree = (await store.tree(layout.skills, { depth: 2 })) ?? []
  const seedFolder = posix.join(layout.skills, SEED_FOLDER)
  const names = new Set(tree.filter(({ path }) => posix.dirname(path) === SEED_FOLDER).map(({ path }) => posix.basename(path)))
  const old = tree.filter(({ path, type }) => type === 'file' && posix.basename(path) === SKILL_FILE && !path.startsWith('.'))
  for (const folder of old.map(({ path }) => posix.dirname(path)).filter(folder => folder !== '.')) {
    const target = free(
      folder,
      name => names.has(name),
      n => `${folder}_${n}`,
    )
    names.add(target)
    await store.move(posix.join(layout.skills, folder), posix.join(seedFolder, target))
  }
  if (tree.some(({ path, type }) => path === OLD_INDEX && type === 'file'))
    await store.move(posix.join(layout.skills, OLD_INDEX), posix.join(seedFolder, INDEX_FILE))
}

interface SeedFolder {
  hash: string | undefined
  digest: string
}

async function seedFolders({ store, layout }: SeedingParts): Promise<Map<string, SeedFolder>> {
  const tree = (await store.tree(posix.join(layout.skills, SEED_FOLDER), { hashUpTo: MAX_HASHED })) ?? []
  const folders = tree.filter(({ path, type }) => type === 'directory' && !path.includes('/'))
  return new Map(folders.map(({ path }) => [path, seedFolder(path, tree)]))
}

function seedFolder(folder: string, tree: readonly TreeEntry[]): SeedFolder {
  const files = tree.filter(({ path, type }) => type === 'file' && path.startsWith(`${folder}/`))
  const hashes = new Map(files.map(({ path, sha256 = '' }) => [path.slice(folder.length + 1), sha256]))
  return { hash: hashes.get(SKILL_FILE), digest: digestOfFiles(hashes) }
}

/** The folder that a seed is in. One that we put there, and that nobody changed since, gives way to its newer version. */
async function place(
  parts: SeedingParts,
  { seed, known, present }: { seed: Seed; known: ReadonlyMap<string, string>; present: Map<string, SeedFolder> },
): Promise<string> {
  const { store, staging, layout } = parts
  const plain = folderOf(seed.name)
  const own = present.get(plain)
  const isOurs = own !== undefined && known.get(plain) === own.digest
  const same = [...present].find(
    ([folder, { hash, digest }]) => digest === seed.digest || (hash === seed.hash && !(isOurs && folder === plain)),
  )
  if (same !== undefined) return same[0]
  const folder = isOurs
    ? plain
    : free(
        plain,
        name => present.has(name),
        n => `${plain}_${n}`,
      )
  const target = posix.join(layout.skills, SEED_FOLDER, folder)
  await staging.run(async staged => {
    await staging.upload(seed.files, staged)
    if (isOurs) await store.remove(target)
    await store.move(staged, target)
  })
  present.set(folder, { hash: seed.hash, digest: seed.digest })
  return folder
}

const recordFile = (layout: Layout): string => posix.join(layout.own, 'seeds.json')

/** Folder → digest of what we put there. */
async function readRecord({ store, layout }: SeedingParts): Promise<Map<string, string>> {
  const { type, size } = await store.stat(recordFile(layout))
  if (type !== 'file') return new Map()
  try {
    const text = (await store.read(recordFile(layout), size, { within: layout.own })).toString('utf8')
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>)
    return new Map(entries.flatMap(([folder, digest]) => (typeof digest === 'string' ? [[folder, digest]] : [])))
  } catch (error) {
    if (error instanceof SyntaxError) return new Map()
    throw error
  }
}

async function writeRecord({ store, layout }: SeedingParts, record: ReadonlyMap<string, string>): Promise<void> {
  await store.put(recordFile(layout), contentOf(JSON.stringify(Object.fromEntries(record), null, 2)))
}

/** Makes an agent's partition out of the seeds, in one step; who comes second finds it made. */
export async function equip(partition: string, { store, staging, layout }: SeedingParts): Promise<void> {
  if ((await store.stat(partition)).type !== 'missing') return
  const seedFolder = posix.join(layout.skills, SEED_FOLDER)
  if ((await store.stat(seedFolder)).type !== 'directory') return store.makeFolder(partition)
  await staging.run(async staged => {
    const bounds = { maxFiles: 20_000, maxBytes: 4 * SKILL_LIMITS.maxBytes }
    await store.copy(seedFolder, staged, { exclude: [INDEX_FILE], ...bounds })
    await store.move(staged, partition)
  })
}
