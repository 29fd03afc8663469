import type { Scope } from '../manager/scope.ts'
import type { WorkspaceSummary } from '../tools/workspace-directory.ts'
import { workspaceUri } from '../workspace/workspace-uri.ts'
import { FILE_ICONS, WORKSPACE_ICONS } from './icons.ts'
import { type MethodExtra, type MethodHandler, RpcError } from './method.ts'
import { baseOf, type ResourceContents, readResource, resourceError } from './resource-read.ts'
import { parseResourceUri, type ResourceTarget } from './resource-uri.ts'
import { acquire, type SessionContext, scopeOf } from './session-context.ts'
import { INVALID_PARAMS } from './shape.ts'
import { shownSkills } from './skill-access.ts'
import { readSkillResource, SKILL_TEMPLATE, skillResources } from './skill-resources.ts'
import { isSkillUri } from './skill-uri.ts'

type Params = Record<string, unknown>
const JSON_TYPE = 'application/json'

/** Templates by which every file of a workspace is a resource. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: 'workspace://{workspace}',
    name: 'workspace',
    title: 'Status of a workspace',
    description: 'State, backend, directories, jobs and limits, as JSON.',
    mimeType: JSON_TYPE,
    icons: WORKSPACE_ICONS,
  },
  {
    uriTemplate: 'workspace://{workspace}/{+path}',
    name: 'workspace-file',
    title: 'File or directory of a workspace',
    description: 'A path under the workdir. A part of a file: ?lines=a-b, or ?offset=&limit= in bytes.',
    icons: FILE_ICONS,
  },
  {
    uriTemplate: 'workspace:///{+path}',
    name: 'workspace-root-file',
    title: "File of the current workspace's own folders",
    description: 'A path under the root that holds skills/, sessions/ and data/. Parts as above.',
    icons: FILE_ICONS,
  },
  SKILL_TEMPLATE,
]

/** `resources/list`: all workspaces, and the top level of those that are open here. Nothing is started for it. */
export function listResources(context: SessionContext): MethodHandler {
  return async (params, { signal }) => {
    const scope = scopeOf(context, params)
    const skills = shownSkills(context, scope, signal)
    const resources = await listWorkspaces(context, scope, signal)
    context.showingResources?.(scope, resources)
    return { resources: [...resources, ...skillResources(await skills)] }
  }
}

/** The part of the list that is about workspaces. */
export async function listWorkspaces(context: SessionContext, scope: Scope, signal: AbortSignal): Promise<Params[]> {
  const summaries = await context.parts.directory(scope, context.state).list({ signal })
  const all = { uri: 'workspace://', name: 'workspaces', title: 'All workspaces', mimeType: JSON_TYPE }
  const parts = await Promise.all(summaries.map(summary => workspaceResources(context, summary, signal)))
  return [all, ...parts.flat()]
}

async function workspaceResources(context: SessionContext, summary: WorkspaceSummary, signal: AbortSignal): Promise<Params[]> {
  const title = `Workspace ${summary.name}${summary.current ? ' (current)' : ''}`
  const status = {
    uri: workspaceUri(summary.id),
    name: summary.name,
    title,
    description: `${summary.backend}, ${summary.state}`,
    mimeType: JSON_TYPE,
  }
  const workspace = context.services.manager.opened(summary.id)
  if (workspace === undefined || workspace.lost) return [status]
  try {
    const { entries } = await workspace.files.list(summary.workdir, { signal })
    const files = entries.map(entry => ({
      uri: workspaceUri(summary.id, entry.name),
      name: entry.type === 'directory' ? `${entry.name}/` : entry.name,
      title: `${entry.name}${entry.type === 'directory' ? '/' : ''} in ${summary.name}`,
      ...(entry.type === 'file' && { size: entry.size }),
    }))
    return [status, ...files]
  } catch (error) {
    context.services.logger.warn({ workspace: summary.id, error: String(error) }, 'the top level could not be listed')
    return [status]
  }
}

/** `resources/read` of any `workspace:` or `skill:` URI. */
export function readResources(context: SessionContext): MethodHandler {
  return async (params, extra) => {
    const { uri } = params
    if (typeof uri !== 'string') throw new RpcError(INVALID_PARAMS, 'resources/read needs "uri", a string.')
    try {
      const contents = isSkillUri(uri)
        ? await readSkillResource(context, { uri, scope: scopeOf(context, params), signal: extra.signal })
        : await contentsOf(context, { target: parseResourceUri(uri), uri, params, extra })
      return { contents: [contents] }
    } catch (thrown) {
      throw resourceError(thrown, uri)
    }
  }
}

interface ReadCall {
  target: ResourceTarget
  uri: string
  params: Params
  extra: MethodExtra
}

async function contentsOf(context: SessionContext, { target, uri, params, extra }: ReadCall): Promise<ResourceContents> {
  const scope = scopeOf(context, params)
  const { signal } = extra
  const directory = context.parts.directory(scope, context.state)
  const json = (value: unknown): ResourceContents => ({ uri, mimeType: JSON_TYPE, text: JSON.stringify(value, null, 2) })
  if (target.kind === 'all') return json({ workspaces: await directory.list({ signal }) })
  if (target.kind === 'status') return json(await directory.status(target.id, { signal }))
  using lease = await acquire(context, scope, { ref: target.id, signal })
  const { workspace } = lease
  const base = baseOf(workspace, target, uri)
  return readResource({ uri, workspace, base, path: target.path, range: target.range, session: context.key, signal })
}
