import type { Skill } from '../workspace/skills/port.ts'
import { isRegularName } from '../workspace/skills/skill-rules.ts'

export const SKILL_FILE = 'SKILL.md'
export const INDEX_URI = 'skill://index.json'

/** Whether a URI is of our `skill:` namespace. */
export const isSkillUri = (uri: string): boolean => /^skill:\/\//i.test(uri)

/** The name in a skill's header; by it, not by the agent's name, its URI ends. */
export function headerName({ frontmatter }: Skill): string {
  return String(frontmatter.name).trim()
}

/** Whether the namespace's rules let a skill be published by `skills/list`. */
export const isPublished = (skill: Skill): boolean => isRegularName(headerName(skill))

/** The URI of a skill's file, or of its root (`''`). Where two skills share a name, the folder stands in front of it. */
export function skillUri(skill: Skill, path = ''): string {
  const name = headerName(skill)
  const root = skill.name === name ? [name] : [skill.folder, name]
  return `skill://${[...root, ...path.split('/')]
    .filter(part => part !== '')
    .map(encodeURIComponent)
    .join('/')}`
}

/** Which skill's which file or folder (`''`: its root) a URI means. */
export function resolveSkillUri(uri: string, skills: readonly Skill[]): { skill: Skill; path: string } | undefined {
  const wanted = partsOf(uri)
  if (wanted === undefined || wanted.some(part => part === '..' || part === '.' || part.includes('/'))) return undefined
  const candidates = skills.flatMap(skill => {
    const root = partsOf(skillUri(skill)) ?? []
    return root.every((part, at) => part === wanted[at])
      ? [{ skill, path: wanted.slice(root.length).join('/'), depth: root.length }]
      : []
  })
  return candidates.sort((a, b) => b.depth - a.depth)[0]
}

function partsOf(uri: string): string[] | undefined {
  try {
    return uri
      .replace(/^skill:\/\//i, '')
      .replace(/\/$/, '')
      .split('/')
      .map(decodeURIComponent)
  } catch {
    return undefined
  }
}
