import { WorkspaceError } from '../lib/errors.ts'
import type { Scope } from '../manager/scope.ts'
import type { Skill } from '../workspace/skills/port.ts'
import { SKILL_ICONS } from './icons.ts'
import { mediaTypeOf, textOf } from './media.ts'
import type { ResourceContents } from './resource-read.ts'
import type { SessionContext } from './session-context.ts'
import { withSkills } from './skill-access.ts'
import { headerName, INDEX_URI, resolveSkillUri, SKILL_FILE, skillUri } from './skill-uri.ts'

/** A host that checks digests needs a file whole; larger ones are for the Read tool. */
const MAX_BYTES = 16 * 1024 ** 2

/** Template by which every file of a skill is a resource. */
export const SKILL_TEMPLATE = {
  uriTemplate: 'skill://{skill}/{+path}',
  name: 'skill-file',
  title: 'File of a skill',
  description: 'SKILL.md holds its instructions. skill://index.json lists all skills.',
  icons: SKILL_ICONS,
}

/** The index and each skill's `SKILL.md`, as `resources/list` shows them; nothing where there are no skills. */
export function skillResources(skills: readonly Skill[]): Record<string, unknown>[] {
  if (skills.length === 0) return []
  const index = { uri: INDEX_URI, name: 'skills', title: 'All skills', mimeType: 'application/json' }
  return [index, ...skills.map(resourceOf)]
}

const resourceOf = (skill: Skill): Record<string, unknown> => ({
  uri: skillUri(skill, SKILL_FILE),
  name: headerName(skill),
  title: `Skill ${skill.name}`,
  description: skill.description,
  mimeType: 'text/markdown',
  annotations: { lastModified: new Date(skill.updatedAt).toISOString() },
})

/** `resources/read` of a `skill:` URI: the index, or a file as text where it is UTF-8, else as a blob. */
export function readSkillResource(
  context: SessionContext,
  { uri, scope, signal }: { uri: string; scope: Scope; signal: AbortSignal },
): Promise<ResourceContents> {
  return withSkills(context, { scope, signal }, async (workspace, skills) => {
    if (uri.toLowerCase() === INDEX_URI) return indexOf(uri, skills)
    const found = resolveSkillUri(uri, skills)
    if (found === undefined)
      throw new WorkspaceError('not_found', `There is no skill for "${uri}".`, { hint: `${INDEX_URI} lists the skills.` })
    const { skill, path } = found
    if (path === '')
      throw new WorkspaceError('invalid_argument', `"${uri}" is a directory.`, {
        hint: `Read ${skillUri(skill, SKILL_FILE)}, or list it.`,
      })
    const bytes = await workspace.skills.read(skill, path, { signal })
    if (bytes.length > MAX_BYTES)
      throw new WorkspaceError('too_large', `"${uri}" has ${bytes.length} bytes.`, {
        hint: `Read ${skill.dir}/${path} with the Read tool.`,
      })
    return contentsOf(uri, path, bytes)
  })
}

function contentsOf(uri: string, path: string, bytes: Uint8Array): ResourceContents {
  const text = textOf(bytes, { length: bytes.length, inside: false })
  if (text !== undefined) return { uri, mimeType: mediaTypeOf(path, true), text }
  return { uri, mimeType: mediaTypeOf(path, false), blob: Buffer.from(bytes).toString('base64') }
}

function indexOf(uri: string, skills: readonly Skill[]): ResourceContents {
  const entries = skills.map(skill => ({
    name: skill.name,
    type: 'skill-md',
    description: skill.description,
    url: skillUri(skill, SKILL_FILE),
  }))
  return { uri, mimeType: 'application/json', text: JSON.stringify({ skills: entries }, null, 2) }
}
