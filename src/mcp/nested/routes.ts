import { isObject } from '../shape.ts'
import { jobOfTask } from '../task-id.ts'
import type { Catalogue, NestedItem } from './catalogue.ts'
import { isNestedName } from './names.ts'
import type { NestedLink } from './nested-link.ts'
import { isOwnScheme, schemeOf } from './uri-template.ts'

type Params = Record<string, unknown>

/** Where a request goes, and how its parameters are said there. */
export interface Destination {
  server: string
  rewrite(params: Params): Params
}

/** A request that may be a nested server's. */
export interface Candidate {
  /** Workspace that the request names. */
  ref?: string | undefined
  /** Nobody else can answer it: the workspace is opened for it. Else only where what was kept of its servers fits. */
  certain: boolean
  /** A skill of this name comes first. */
  skill?: string
  find(catalogue: Catalogue, link?: NestedLink): Destination | undefined
}

/** Key of `_meta` by which any request, one of no standard too, goes to a server by name. */
export const SERVER_KEY = 'atelier/server'

const same = (params: Params): Params => params
const to = (server: string | undefined): Destination | undefined => (server === undefined ? undefined : { server, rewrite: same })
const renamed = (item: NestedItem | undefined): Destination | undefined =>
  item && { server: item.server, rewrite: params => ({ ...params, name: item.name }) }

/** What was learned from answers: who made a task, who spoke of a resource. Old entries make room. */
export class Origins {
  readonly #limit: number
  readonly #found = new Map<string, string>()

  constructor(limit = 10_000) {
    this.#limit = limit
  }

  learn(link: NestedLink, key: unknown, server: string): void {
    if (typeof key !== 'string') return
    this.#found.set(`${link.number} ${key}`, server)
    if (this.#found.size > this.#limit) for (const oldest of this.#found.keys()) return void this.#found.delete(oldest)
  }

  of(link: NestedLink | undefined, key: unknown): string | undefined {
    return link && this.#found.get(`${link.number} ${String(key)}`)
  }
}

export interface RouteKnowledge {
  own: { tools: ReadonlySet<string>; prompts: ReadonlySet<string> }
  tasks: Origins
  resources: Origins
}

/** Whether a request may be for a nested server, and how to find out; undefined: it is Atelier's own. */
export function candidateOf(method: string, params: Params, known: RouteKnowledge): Candidate | undefined {
  const named = isObject(params._meta) ? params._meta[SERVER_KEY] : undefined
  if (typeof named === 'string') return { certain: true, find: catalogue => to(catalogue.server(named)?.name) }
  switch (method) {
    case 'tools/call':
      return params.name === 'mcp_call' ? mcpCall(params) : byName(params.name, known.own.tools, 'tool')
    case 'prompts/get':
      return byName(params.name, known.own.prompts, 'prompt')
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return byUri(params.uri, known)
    case 'completion/complete':
      return completion(params.ref, known)
    case 'tasks/get':
    case 'tasks/result':
    case 'tasks/cancel':
      if (jobOfTask(params.taskId) !== undefined) return undefined
      return { certain: true, find: (_, link) => to(known.tasks.of(link, params.taskId) ?? onlyOne(link?.running('tasks'))) }
    default:
      return undefined
  }
}

function byName(name: unknown, own: ReadonlySet<string>, kind: 'tool' | 'prompt'): Candidate | undefined {
  if (typeof name !== 'string' || own.has(name)) return undefined
  const beside = kind === 'prompt' && !isNestedName(name) ? { skill: name } : {}
  return { certain: isNestedName(name), ...beside, find: catalogue => renamed(catalogue[kind](name)) }
}

function mcpCall({ arguments: given }: Params): Candidate | undefined {
  if (!isObject(given)) return undefined
  const { server, tool, arguments: sent, workspace, ...unknown } = given
  const args = typeof sent === 'string' ? parsed(sent) : (sent ?? {})
  if (typeof server !== 'string' || typeof tool !== 'string' || !isObject(args) || Object.keys(unknown).length > 0)
    return undefined
  const rewrite = (params: Params): Params => ({ ...params, name: tool, arguments: args })
  const ref = typeof workspace === 'string' && workspace !== '' ? workspace : undefined
  return { ref, certain: true, find: catalogue => (catalogue.mayCall(server, tool) ? { server, rewrite } : undefined) }
}

/** Models send JSON in a text where an object is wanted. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function byUri(uri: unknown, { resources }: RouteKnowledge): Candidate | undefined {
  if (typeof uri !== 'string' || isOwnScheme(uri)) return undefined
  return { certain: schemeOf(uri) !== '', find: (catalogue, link) => to(resources.of(link, uri) ?? catalogue.resource(uri)) }
}

function completion(ref: unknown, known: RouteKnowledge): Candidate | undefined {
  if (!isObject(ref)) return undefined
  if (ref.type === 'ref/resource') {
    const { uri } = ref
    if (typeof uri !== 'string' || isOwnScheme(uri)) return undefined
    return { certain: true, find: catalogue => to(catalogue.template(uri)) }
  }
  const prompt = byName(ref.name, known.own.prompts, 'prompt')
  if (prompt === undefined) return undefined
  const find = (catalogue: Catalogue): Destination | undefined => {
    const item = catalogue.prompt(String(ref.name))
    return item && { server: item.server, rewrite: params => ({ ...params, ref: { ...ref, name: item.name } }) }
  }
  return { ...prompt, find }
}

function onlyOne(servers: readonly string[] = []): string | undefined {
  return servers.length === 1 ? servers[0] : undefined
}
