import type { PortOptions } from '../ports.ts'
import type { ArchiveFormat } from './reader/reader-protocol.ts'

export type { ArchiveFormat } from './reader/reader-protocol.ts'

/** A skill of one agent, as far as it is known without loading it. */
export interface Skill {
  /** By which the agent names it: the one of its header, with ` (n)` where another has that one already. */
  name: string
  description: string
  /** Its directory, absolute inside the workspace, and that directory's name. */
  dir: string
  folder: string
  /** Every field of its header, as written. */
  frontmatter: Readonly<Record<string, unknown>>
  /** Rules of the format that it breaks without being useless for it. */
  warnings: readonly string[]
  /** Last change of its `SKILL.md`, in ms since the epoch. */
  updatedAt: number
}

/** A folder that holds no usable skill: which file, what is wrong, what to do. */
export interface SkippedSkill {
  path: string
  rule: string
  fix: string
}

export interface SkillListing {
  skills: readonly Skill[]
  skipped: readonly SkippedSkill[]
}

export interface SkillFile {
  /** Relative to the skill's directory. */
  path: string
  size: number
  /** Absent where the file is too large to be hashed on request. */
  sha256?: string
}

export interface LoadedSkill extends Skill {
  /** Its `SKILL.md` without the header. */
  body: string
}

/** Where a skill to add comes from. */
export type SkillSource =
  /** A folder, its `SKILL.md`, or an archive: in the workspace, else on the host below a directory that the operator named. */
  | { path: string }
  /** A folder or an archive on the host; for programs, whose word is the operator's. */
  | { hostPath: string }
  | { archive: Uint8Array; format?: ArchiveFormat | undefined }

export interface AddSkillOptions extends PortOptions {
  /** Most bytes that an archive may expand to. */
  maxBytes?: number | undefined
}

export interface AddedSkill {
  skill: Skill
  /** False when the very same skill was there already: nothing was changed. */
  added: boolean
  /** What was left out of it (links, special files). */
  left: readonly string[]
}

/** The skills of a workspace, a partition for each agent; an unnamed agent (`''`) has the partition `default`. */
export interface Skills {
  list(agent: string, options?: PortOptions): Promise<SkillListing>
  /** Throws `not_found` with the names that there are. */
  load(agent: string, name: string, options?: PortOptions): Promise<LoadedSkill>
  /** The files of a skill, `SKILL.md` first; `undefined` when there are too many to tell them all. */
  files(skill: Skill, options?: PortOptions & { hash?: boolean }): Promise<readonly SkillFile[] | undefined>
  /** Bytes of one file; throws `not_found`, and `permission_denied` for what lies outside. */
  read(skill: Skill, path: string, options?: PortOptions): Promise<Uint8Array>
  add(agent: string, source: SkillSource, options?: AddSkillOptions): Promise<AddedSkill>
  /** Throws `not_found` with the names that there are. */
  remove(agent: string, name: string, options?: PortOptions): Promise<Skill>
  /** Forgets an agent's skills: the next use starts from the seeds again. */
  purgeAgent(agent: string, options?: PortOptions): Promise<void>
  /** Changes whenever an agent's skills on disk do; equips nobody. */
  version(agent: string, options?: PortOptions): Promise<string>
}
