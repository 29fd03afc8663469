import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { builtPath } from '../../lib/built-path.ts'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { HeaderCache } from './header-cache.ts'
import { type HostFolder, hostPath, readHostFolder } from './host-skills.ts'
import type { ReaderOptions } from './reader/reader.ts'
import { SKILL_FILE } from './scan-partition.ts'
import { SKILL_LIMITS } from './skill-limits.ts'
import { judge } from './skill-rules.ts'

/** A skill of the host that new partitions get. */
export interface Seed extends HostFolder {
  name: string
  /** SHA-256 of its `SKILL.md`. */
  hash: string
  /** SHA-256 over all its files. */
  digest: string
}

export interface SkillSeedsOptions {
  /** Skill folders, or folders of skill folders; `~` is filled in. */
  paths: readonly string[]
  /** Atelier's own skills; absent: the ones that came with it. */
  own?: string | undefined
  reader?: ReaderOptions | undefined
  logger: Logger
}

/** The skills that the operator gives to every workspace of this process. */
export class SkillSeeds {
  /** Directories that the operator named: skills may be added from there. */
  readonly paths: readonly string[]
  /** Shared by all workspaces: what a header says depends on its text alone. */
  readonly headers: HeaderCache
  readonly #own: string | undefined
  readonly #logger: Logger

  constructor({ paths, own = builtPath('skills') ?? builtPath('../skills'), reader, logger }: SkillSeedsOptions) {
    this.paths = paths.map(hostPath)
    this.headers = new HeaderCache(reader)
    this.#own = own
    this.#logger = logger
  }

  /** Every usable skill, as it is on disk now, equal ones once. What is unusable is told to the log, with rule and fix. */
  async read(): Promise<Seed[]> {
    const roots = [...(this.#own === undefined ? [] : [this.#own]), ...this.paths]
    const folders = (await Promise.all(roots.map(root => this.#foldersOf(root)))).flat()
    const texts = await Promise.all(folders.map(folder => readFile(join(folder, SKILL_FILE))))
    const headers = await this.headers.read(texts)
    const seeds: Seed[] = []
    for (const [at, folder] of folders.entries()) {
      const { hash, frontmatter } = headers[at]!
      const verdict = judge(frontmatter)
      if ('rule' in verdict) this.#refused(join(folder, SKILL_FILE), verdict)
      else if (!seeds.some(seed => seed.hash === hash)) seeds.push(...(await this.#seed(folder, { name: verdict.name, hash })))
    }
    return seeds
  }

  /** Folders with a `SKILL.md`: the one named, or those directly in it. */
  async #foldersOf(root: string): Promise<string[]> {
    if (await isFile(join(root, SKILL_FILE))) return [root]
    try {
      const names = (await readdir(root)).filter(name => !name.startsWith('.')).sort()
      const checked = await Promise.all(
        names.map(async name => ((await isFile(join(root, name, SKILL_FILE))) ? [join(root, name)] : [])),
      )
      if (checked.flat().length === 0)
        this.#refused(root, { rule: `there is no ${SKILL_FILE} in it`, fix: 'Name a folder of skills, or one skill.' })
      return checked.flat()
    } catch (error) {
      this.#refused(root, { rule: toWorkspaceError(error).message, fix: 'Correct skillPaths.' })
      return []
    }
  }

  async #seed(folder: string, { name, hash }: { name: string; hash: string }): Promise<Seed[]> {
    try {
      const found = await readHostFolder(folder, SKILL_LIMITS)
      return [{ ...found, name, hash, digest: await digestOf(found) }]
    } catch (error) {
      this.#refused(folder, { rule: toWorkspaceError(error).message, fix: 'Make it smaller, or readable.' })
      return []
    }
  }

  #refused(path: string, { rule, fix }: { rule: string; fix: string }): void {
    this.#logger.warn({ path, rule, fix }, 'a skill of skillPaths was skipped')
  }
}

async function digestOf({ files }: HostFolder): Promise<string> {
  const hashes = new Map<string, string>()
  for (const file of files) {
    const hash = createHash('sha256')
    for await (const chunk of file.open()) hash.update(chunk)
    hashes.set(file.path, hash.digest('hex'))
  }
  return digestOfFiles(hashes)
}

/** One hash over the files of a skill, by path and content. */
export function digestOfFiles(files: ReadonlyMap<string, string>): string {
  const lines = [...files].map(([path, hash]) => `${hash} ${path}`).sort()
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    found => found.isFile(),
    () => false,
  )
