import type { PortOptions } from '../workspace/ports.ts'
import type { Skill } from '../workspace/skills/port.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { mediaTypeOf } from './media.ts'
import { type MethodHandler, RpcError } from './method.ts'
import { type SessionContext, scopeOf } from './session-context.ts'
import { INVALID_PARAMS } from './shape.ts'
import { withSkills } from './skill-access.ts'
import { isPublished, resolveSkillUri, SKILL_FILE, skillUri } from './skill-uri.ts'

type Params = Record<string, unknown>

/** Skills of one answer: each brings the hashes of all its files. */
const PAGE = 100
const CHILDREN = 1_000

/** The methods of the extension `io.modelcontextprotocol/skills` (SEP-2640). */
export function skillMethods(context: SessionContext): Record<string, MethodHandler> {
  return {
    'skills/list': (params, { signal }) =>
      withSkills(context, { scope: scopeOf(context, params), signal }, async (workspace, skills) => {
        const { items, ...page } = paged(skills.filter(isPublished), params, PAGE)
        return { skills: await Promise.all(items.map(skill => entryOf(workspace, skill, { signal }))), ...page }
      }),
    'skills/get': (params, { signal }) =>
      withSkills(context, { scope: scopeOf(context, params), signal }, async (workspace, skills) => {
        const found = resolveSkillUri(uriOf(params), skills.filter(isPublished))
        if (found?.path !== SKILL_FILE)
          throw new RpcError(INVALID_PARAMS, `There is no skill "${uriOf(params)}".`, { uri: params.uri })
        return { skill: await entryOf(workspace, found.skill, { signal }) }
      }),
    'resources/directory/read': (params, { signal }) =>
      withSkills(context, { scope: scopeOf(context, params), signal }, async (workspace, skills) => {
        const { items, ...page } = paged(await childrenOf(workspace, skills, { uri: uriOf(params), signal }), params, CHILDREN)
        return { resources: items, ...page }
      }),
  }
}

async function entryOf(workspace: Workspace, skill: Skill, options: PortOptions): Promise<Params> {
  const files = await workspace.skills.files(skill, { ...options, hash: true })
  const entry = { uri: skillUri(skill, SKILL_FILE), frontmatter: skill.frontmatter }
  // A set of files that is not whole would be no promise at all.
  if (files === undefined || files.some(file => file.sha256 === undefined)) return entry
  return { ...entry, resources: files.map(({ path, sha256 }) => ({ uri: skillUri(skill, path), digest: `sha256:${sha256}` })) }
}

async function childrenOf(
  workspace: Workspace,
  skills: readonly Skill[],
  { uri, signal }: { uri: string; signal: AbortSignal },
): Promise<Params[]> {
  const found = resolveSkillUri(uri, skills)
  const files = found && (await workspace.skills.files(found.skill, { signal }))
  if (found === undefined || files === undefined) throw noDirectory(uri)
  const inside = found.path === '' ? '' : `${found.path}/`
  const below = files
    .filter(({ path }) => path.startsWith(inside))
    .map(({ path, size }) => ({ rest: path.slice(inside.length), size }))
  if (below.length === 0) throw noDirectory(uri)
  const children = new Map<string, Params>()
  for (const { rest, size } of below) {
    const [name = '', deeper] = rest.split('/')
    const child = { uri: skillUri(found.skill, inside + name), name }
    children.set(
      name,
      deeper === undefined ? { ...child, mimeType: mediaTypeOf(name, true), size } : { ...child, mimeType: 'inode/directory' },
    )
  }
  return [...children.values()]
}

const noDirectory = (uri: string): RpcError => new RpcError(INVALID_PARAMS, `There is no directory "${uri}" of a skill.`, { uri })

function uriOf({ uri }: Params): string {
  if (typeof uri === 'string') return uri
  throw new RpcError(INVALID_PARAMS, 'The method needs "uri", a string.')
}

function paged<T>(all: readonly T[], { cursor }: Params, size: number): { items: readonly T[]; nextCursor?: string } {
  const from = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isInteger(from) || from < 0) throw new RpcError(INVALID_PARAMS, `"${String(cursor)}" is no cursor of ours.`)
  const items = all.slice(from, from + size)
  return from + size < all.length ? { items, nextCursor: String(from + size) } : { items }
}
