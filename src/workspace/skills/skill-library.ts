import { posix } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { KeyedLock } from '../../lib/keyed-lock.ts'
import { nearest } from '../../lib/suggest.ts'
import type { Confinement } from '../confinement.ts'
import type { GatewayCalls } from '../environment-link.ts'
import { type Layout, layoutOf, skillsFolder } from '../layout.ts'
import type { PortOptions } from '../ports.ts'
import { type BringParts, bringSkill } from './bring-skill.ts'
import { installSkill } from './install-skill.ts'
import type { AddedSkill, AddSkillOptions, LoadedSkill, Skill, SkillFile, SkillListing, SkillSource, Skills } from './port.ts'
import { type FoundSkill, type Scan, SKILL_FILE, scanPartition } from './scan-partition.ts'
import { equip, fillSeeds, type SeedingParts } from './seeding.ts'
import { skillFiles } from './skill-files.ts'
import { SKILL_LIMITS } from './skill-limits.ts'
import type { SkillSeeds } from './skill-seeds.ts'
import { SkillStore } from './skill-store.ts'
import { partitionVersion } from './skill-version.ts'
import { Staging } from './staging.ts'
import { writeIndex } from './write-index.ts'

export interface SkillLibraryOptions {
  gateway: GatewayCalls
  place: Confinement
  seeds: SkillSeeds
}

/** The skills of one workspace, kept as folders below its root. Nothing is made or read before the first use. */
export class SkillLibrary implements Skills {
  readonly #layout: Layout
  readonly #parts: SeedingParts & BringParts
  readonly #lock = new KeyedLock()
  #seeded: Promise<void> | undefined

  constructor({ gateway, place, seeds }: SkillLibraryOptions) {
    this.#layout = layoutOf(place.root)
    const store = new SkillStore(gateway, place.root)
    this.#parts = { gateway, place, seeds, store, layout: this.#layout, staging: new Staging(store, this.#layout) }
  }

  async list(agent: string, options: PortOptions = {}): Promise<SkillListing> {
    const { skills, skipped } = await this.#scan(agent, options)
    return { skills: skills.map(plain), skipped }
  }

  async load(agent: string, name: string, options: PortOptions = {}): Promise<LoadedSkill> {
    const { hash: _, ...skill } = named(await this.#scan(agent, options), name)
    return skill
  }

  files(skill: Skill, options: PortOptions & { hash?: boolean } = {}): Promise<readonly SkillFile[] | undefined> {
    return skillFiles(this.#parts.store, skill, options)
  }

  async read(skill: Skill, path: string, { signal }: PortOptions = {}): Promise<Uint8Array> {
    const full = posix.join(skill.dir, path)
    if (full !== skill.dir && !full.startsWith(`${skill.dir}/`)) throw missingFile(skill, path)
    const { type, size } = await this.#parts.store.stat(full, { signal })
    if (type !== 'file') throw missingFile(skill, path)
    if (size > SKILL_LIMITS.maxArchiveBytes)
      throw new WorkspaceError('too_large', `${full} has ${size} bytes.`, { hint: 'Use the Read tool.' })
    return this.#parts.store.read(full, size, { signal, within: skill.dir })
  }

  add(agent: string, source: SkillSource, options: AddSkillOptions = {}): Promise<AddedSkill> {
    return this.#change(agent, options, async partition => {
      const installed = await this.#parts.staging.run(async staged => {
        const brought = await bringSkill(staged, { source, parts: this.#parts, options })
        const scan = await this.#scanned(partition, options)
        return {
          ...(await installSkill(brought.folder, { partition, scan, parts: this.#parts, signal: options.signal })),
          left: brought.left,
        }
      })
      const after = await this.#indexed(partition, options)
      const skill = after.skills.find(({ folder }) => folder === installed.folder)
      if (skill === undefined) throw new WorkspaceError('unavailable', `The skill in ${installed.folder} was removed meanwhile.`)
      return { skill: plain(skill), added: installed.added, left: installed.left }
    })
  }

  remove(agent: string, name: string, options: PortOptions = {}): Promise<Skill> {
    return this.#change(agent, options, async partition => {
      const skill = named(await this.#scanned(partition, options), name)
      await this.#parts.store.remove(skill.dir)
      await this.#indexed(partition, options)
      return plain(skill)
    })
  }

  async purgeAgent(agent: string): Promise<void> {
    const partition = skillsFolder(this.#layout, agent)
    await this.#lock.run(partition, () => this.#parts.store.remove(partition))
  }

  version(agent: string, options: PortOptions = {}): Promise<string> {
    return partitionVersion(this.#parts.store, skillsFolder(this.#layout, agent), options)
  }

  /** After a reset: the next use starts from the seeds again. */
  forget(): void {
    this.#seeded = undefined
  }

  /** Runs a change of an agent's partition when those before it are done. */
  #change<T>(agent: string, { signal }: PortOptions, task: (partition: string) => Promise<T>): Promise<T> {
    const partition = skillsFolder(this.#layout, agent)
    return this.#lock.run(
      partition,
      async () => {
        await this.#equipped(partition)
        return task(partition)
      },
      { signal },
    )
  }

  async #scan(agent: string, options: PortOptions): Promise<Scan> {
    const partition = skillsFolder(this.#layout, agent)
    await this.#seed()
    const found = await scanPartition(partition, { ...this.#parts, headers: this.#parts.seeds.headers, ...options })
    return found ?? this.#change(agent, options, () => this.#indexed(partition, options))
  }

  async #scanned(partition: string, { signal }: PortOptions): Promise<Scan> {
    const scan = await scanPartition(partition, { store: this.#parts.store, headers: this.#parts.seeds.headers, signal })
    return scan ?? { skills: [], skipped: [] }
  }

  /** Scans, and writes down which folder has which name. */
  async #indexed(partition: string, options: PortOptions): Promise<Scan> {
    const scan = await this.#scanned(partition, options)
    await writeIndex(this.#parts.store, partition, scan.skills)
    return scan
  }

  async #equipped(partition: string): Promise<void> {
    await this.#seed()
    await equip(partition, this.#parts)
  }

  /** Once as long as the workspace is open; after a failure again. */
  #seed(): Promise<void> {
    this.#seeded ??= fillSeeds(this.#parts).catch(error => {
      this.#seeded = undefined
      throw error
    })
    return this.#seeded
  }
}

function plain({ hash: _, body: __, ...skill }: FoundSkill): Skill {
  return skill
}

function named({ skills, skipped }: Scan, name: string): FoundSkill {
  const found = skills.find(skill => skill.name === name)
  if (found !== undefined) return found
  const names = skills.map(skill => skill.name)
  const near = nearest(name, names)
  const broken = skipped.find(({ path }) => path.split('/').includes(name))
  const why = broken === undefined ? '' : ` (${broken.path} was skipped: ${broken.rule}. ${broken.fix})`
  const meant = near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`
  throw new WorkspaceError('not_found', `There is no skill ${JSON.stringify(name)}${why}.${meant}`, {
    hint: names.length === 0 ? 'There are no skills here: skill_add adds one.' : `The skills are: ${names.join(', ')}.`,
  })
}

const missingFile = (skill: Skill, path: string): WorkspaceError =>
  new WorkspaceError('not_found', `The skill ${JSON.stringify(skill.name)} has no file ${JSON.stringify(path)}.`, {
    hint: `Its files are in ${skill.dir}; ${SKILL_FILE} is always there.`,
  })
