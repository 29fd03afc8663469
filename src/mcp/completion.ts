import { posix } from 'node:path'
import { toWorkspaceError } from '../lib/errors.ts'
import type { Scope } from '../manager/scope.ts'
import { type MethodHandler, RpcError } from './method.ts'
import { type SessionContext, scopeOf } from './session-context.ts'
import { INVALID_PARAMS, isObject } from './shape.ts'
import { openedCurrent, shownSkills } from './skill-access.ts'
import { argumentsOffered, SKILL_ARGUMENT } from './skill-prompts.ts'
import { isSkillUri, resolveSkillUri, skillUri } from './skill-uri.ts'

/** Most values that the protocol lets an answer hold. */
const MAX_VALUES = 100

/**
 * `completion/complete` for the variables of our templates and the arguments of our prompts. Paths and skills are those of a workspace that
 * is open; none is started for it.
 */
export function complete(context: SessionContext): MethodHandler {
  return async (params, { signal }) => {
    const { ref, argument } = params
    if (!isObject(ref) || !isObject(argument) || typeof argument.name !== 'string' || typeof argument.value !== 'string') {
      throw new RpcError(INVALID_PARAMS, 'completion/complete needs "ref" and "argument" with a name and a value.')
    }
    const known = isObject(params.context) && isObject(params.context.arguments) ? params.context.arguments : {}
    const at = { params, typed: argument.value, signal }
    if (argument.name === 'workspace') return answer(await workspaces(context, at))
    if (argument.name === 'skill') return answer(await skillNames(context, at))
    if (ref.type === 'ref/prompt')
      return answer(argument.name === SKILL_ARGUMENT ? await skillArguments(context, { ...at, prompt: ref.name }) : [])
    if (argument.name !== 'path') return answer([])
    const uri = typeof ref.uri === 'string' ? ref.uri : ''
    if (isSkillUri(uri)) return answer(await skillPaths(context, { ...at, skill: known.skill }))
    return answer(await paths(context, { ...at, rooted: uri.startsWith('workspace:///'), workspace: known.workspace }))
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

/** What a skill's header offers as its arguments, and paths: the last word is completed. */
async function skillArguments(context: SessionContext, at: Typed & { prompt: unknown }): Promise<string[]> {
  const skills = await shownSkills(context, scopeOf(context, at.params), at.signal)
  const skill = skills.find(({ name }) => name === at.prompt)
  if (skill === undefined) return []
  const [before, word] = splitLastWord(at.typed)
  const offered = before === '' ? argumentsOffered(skill).filter(value => value.startsWith(word)) : []
  const found = await paths(context, { ...at, typed: word, rooted: false, workspace: undefined })
  return [...offered, ...found].map(value => before + value)
}

function splitLastWord(typed: string): [before: string, word: string] {
  const at = typed.search(/\S*$/)
  return [typed.slice(0, at), typed.slice(at)]
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
