import { posix } from 'node:path'
import { toWorkspaceError } from '../lib/errors.ts'
import type { Scope } from '../manager/scope.ts'
import { type MethodHandler, RpcError } from './method.ts'
import { type SessionContext, scopeOf } from './session-context.ts'
import { INVALID_PARAMS, isObject } from './shape.ts'
import { openedCurrent, shownSkills } from './skill-access.ts'
import { isSkillUri, resolveSkillUri, skillUri } from './skill-uri.ts'

/** Most values that the protocol lets an answer hold. */
const MAX_VALUES = 100

/** `completion/complete` for workspace ids, skills and paths. A path or skill is completed in a workspace that is open; none is started for it. */
export function complete(context: SessionContext): MethodHandler {
  return async (params, { signal }) => {
    const { ref, argument } = params
    if (!isObject(ref) || !isObject(argument) || typeof argument.name !== 'string' || typeof argument.value !== 'string') {
      throw new RpcError(INVALID_PARAMS, 'completion/complete needs "ref" and "argument" with a name and a value.')
    }
    const known = isObject(params.context) && isObject(params.context.arguments) ? params.context.arguments : {}
    if (argument.name === 'workspace') return answer(await workspaces(context, { params, typed: argument.value, signal }))
    if (argument.name === 'skill') return answer(await skillNames(context, { params, typed: argument.value, signal }))
    if (argument.name !== 'path') return answer([])
    if (typeof ref.uri === 'string' && isSkillUri(ref.uri))
      return answer(await skillPaths(context, { params, typed: argument.value, signal, skill: known.skill }))
    const rooted = typeof ref.uri === 'string' && ref.uri.startsWith('workspace:///')
    return answer(await paths(context, { params, typed: argument.value, signal, rooted, workspace: known.workspace }))
  }
}

interface Typed {
  params: Record<string, unknown>
  typed: string
  signal: AbortSignal
}

async function workspaces(context: SessionContext, { params, typed, signal }: Typed): Promise<string[]> {
  const summaries = await context.parts.directory(scopeOf(context, params), context.state).list({ signal })
  return summaries.flatMap(({ id, name }) => [id, name]).filter(value => value.startsWith(typed))
}

/** What stands for `{skill}` in a skill's URI: a name, or folder and name. */
async function skillNames(context: SessionContext, { params, typed, signal }: Typed): Promise<string[]> {
  const skills = await shownSkills(context, scopeOf(context, params), signal)
  return skills.map(skill => skillUri(skill).slice('skill://'.length)).filter(name => name.startsWith(typed))
}

async function skillPaths(context: SessionContext, at: Typed & { skill: unknown }): Promise<string[]> {
  const scope = scopeOf(context, at.params)
  const skills = await shownSkills(context, scope, at.signal)
  const found = resolveSkillUri(`skill://${String(at.skill)}`, skills)
  const workspace = await openedCurrent(context, scope)
  const files = found && (await workspace?.skills.files(found.skill, { signal: at.signal }))
  return (files ?? []).map(({ path }) => path).filter(path => path.startsWith(at.typed))
}

async function paths(context: SessionContext, at: Typed & { rooted: boolean; workspace: unknown }): Promise<string[]> {
  const scope = scopeOf(context, at.params)
  const { manager } = context.services
  const named = at.rooted ? undefined : at.workspace
  const id =
    typeof named === 'string'
      ? await idOf(context, { scope, named, signal: at.signal })
      : (context.state.current ?? (await manager.defaultId(scope)))
  const workspace = id === undefined ? undefined : manager.opened(id)
  if (workspace === undefined || workspace.lost) return []
  const folder = at.typed.slice(0, at.typed.lastIndexOf('/') + 1)
  if (posix.normalize(`./${folder}`).startsWith('..')) return []
  const base = at.rooted ? workspace.info.root : workspace.info.workdir
  const full = posix.join(base, folder)
  const stat = await workspace.files.stat(full, { signal: at.signal })
  if (stat.type !== 'directory') return []
  const { entries } = await workspace.files.list(full, { signal: at.signal })
  return entries
    .map(entry => `${folder}${entry.name}${entry.type === 'directory' ? '/' : ''}`)
    .filter(path => path.startsWith(at.typed))
}

/** The id of a workspace, of which perhaps only a part has been typed yet. */
async function idOf(
  context: SessionContext,
  { scope, named, signal }: { scope: Scope; named: string; signal: AbortSignal },
): Promise<string | undefined> {
  try {
    return (await context.services.manager.find(scope, named, { signal })).id
  } catch (error) {
    const { code } = toWorkspaceError(error)
    if (code === 'not_found' || code === 'invalid_argument') return undefined
    throw error
  }
}

function answer(values: readonly string[]): Record<string, unknown> {
  const unique = [...new Set(values)]
  return { completion: { values: unique.slice(0, MAX_VALUES), total: unique.length, hasMore: unique.length > MAX_VALUES } }
}
