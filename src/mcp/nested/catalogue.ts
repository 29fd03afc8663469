import type { KeptLists, NestedServerView } from '../../workspace/nested-servers/port.ts'
import { nestedName, plainPart } from './names.ts'
import { isOwnScheme, schemeOf, templateFit } from './uri-template.ts'

/** What is kept of a server between two runs. */
export type KeptServer = Pick<NestedServerView, 'name' | 'expose' | 'lists' | 'initialize'> &
  Partial<Pick<NestedServerView, 'enableTools' | 'disableTools'>>

/** A tool or prompt of a nested server, by its own name. */
export interface NestedItem {
  server: string
  name: string
}

export interface OwnNames {
  tools: ReadonlySet<string>
  prompts: ReadonlySet<string>
}

export type Items = readonly Record<string, unknown>[]

/** The nested servers of one scope as one client sees them: merged lists, and who is meant by a name or URI. */
export class Catalogue {
  readonly servers: readonly KeptServer[]
  readonly lists: Readonly<Record<keyof KeptLists, Items>>
  readonly #tools = new Map<string, NestedItem>()
  readonly #prompts = new Map<string, NestedItem>()
  readonly #resources = new Map<string, string>()
  readonly #templates = new Map<string, string>()

  constructor(servers: readonly KeptServer[], own: OwnNames) {
    this.servers = servers
    this.lists = {
      tools: this.#named('tools', this.#tools, own.tools),
      prompts: this.#named('prompts', this.#prompts, own.prompts),
      resources: this.#addressed('resources', 'uri', this.#resources),
      resourceTemplates: this.#addressed('resourceTemplates', 'uriTemplate', this.#templates),
    }
  }

  server(name: string): KeptServer | undefined {
    return this.servers.find(server => server.name === name)
  }

  /** Whether a server is there and its tool not turned off. */
  mayCall(name: string, tool: string): boolean {
    const server = this.server(name)
    return server !== undefined && isEnabled(server, tool)
  }

  /** The name under which a tool is listed; undefined where it is not. */
  shownTool(server: string, name: string): string | undefined {
    if (this.server(server)?.expose === 'hidden') return undefined
    const bare = this.#tools.get(name)
    return bare?.server === server && bare.name === name ? name : nestedName(server, name)
  }

  /** A tool by its shown name; one that no list tells of is found by its prefix. */
  tool(shown: string): NestedItem | undefined {
    const found = this.#tools.get(shown) ?? this.#byPrefix(shown)
    return found !== undefined && this.mayCall(found.server, found.name) ? found : undefined
  }

  prompt(shown: string): NestedItem | undefined {
    return this.#prompts.get(shown) ?? this.#byPrefix(shown)
  }

  /** The server of a resource: who listed it, else whose template it fits, else the first with resources of that scheme, else the first with any. */
  resource(uri: string): string | undefined {
    if (isOwnScheme(uri)) return undefined
    const listed = this.#resources.get(uri)
    if (listed !== undefined) return listed
    return this.#byTemplate(uri) ?? this.#likely(uri)
  }

  /** The server of a template, by its text. */
  template(uriTemplate: string): string | undefined {
    return this.#templates.get(uriTemplate) ?? this.resource(uriTemplate)
  }

  /** The prompts where some bare names are taken by others: those keep their prefix. */
  promptsBeside(taken: ReadonlySet<string>): Items {
    return this.lists.prompts.map(item => {
      const bare = taken.has(String(item.name)) ? this.#prompts.get(String(item.name)) : undefined
      return bare === undefined ? item : { ...item, name: nestedName(bare.server, bare.name) }
    })
  }

  #byTemplate(uri: string): string | undefined {
    let best: { fit: number; server: string } | undefined
    for (const [template, server] of this.#templates) {
      const fit = templateFit(template, uri)
      if (fit !== undefined && fit > (best?.fit ?? -1)) best = { fit, server }
    }
    return best?.server
  }

  #likely(uri: string): string | undefined {
    const able = this.servers.filter(server => hasCapability(server, 'resources'))
    const alike = able.find(server =>
      [...(server.lists.resources ?? []), ...(server.lists.resourceTemplates ?? [])].some(
        item => schemeOf(String(item.uri ?? item.uriTemplate)) === schemeOf(uri),
      ),
    )
    return (alike ?? able[0])?.name
  }

  #byPrefix(shown: string): NestedItem | undefined {
    for (const { name: server } of this.servers) {
      const name = plainPart(shown, server)
      if (name !== undefined) return { server, name }
    }
    return undefined
  }

  #named(key: 'tools' | 'prompts', found: Map<string, NestedItem>, own: ReadonlySet<string>): Items {
    const listed: Record<string, unknown>[] = []
    for (const server of this.servers) {
      for (const item of server.lists[key] ?? []) {
        const name = String(item.name)
        const prefixed = nestedName(server.name, name)
        const bare = server.expose === 'bare' && !own.has(name) && !found.has(name)
        const target = { server: server.name, name }
        if (!found.has(prefixed)) found.set(prefixed, target)
        if (bare) found.set(name, target)
        if (server.expose !== 'hidden') listed.push({ ...item, name: bare ? name : prefixed })
      }
    }
    return listed
  }

  #addressed(key: 'resources' | 'resourceTemplates', field: string, found: Map<string, string>): Items {
    const listed: Record<string, unknown>[] = []
    for (const server of this.servers) {
      for (const item of server.lists[key] ?? []) {
        const address = String(item[field])
        if (found.has(address) || isOwnScheme(address)) continue
        found.set(address, server.name)
        if (server.expose !== 'hidden') listed.push(item)
      }
    }
    return listed
  }
}

/** Whether a server said in `initialize` that it has a capability. */
export function hasCapability(server: KeptServer, name: string): boolean {
  const capabilities = server.initialize?.capabilities
  return typeof capabilities === 'object' && capabilities !== null && name in capabilities
}

/** Whether the declaration leaves a tool on. */
function isEnabled({ enableTools, disableTools }: KeptServer, tool: string): boolean {
  return (enableTools === undefined || enableTools.includes(tool)) && !disableTools?.includes(tool)
}
