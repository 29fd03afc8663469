import { WorkspaceError } from '../../lib/errors.ts'
import type { NestedTools, ShownTool } from '../../tools/nested-tools.ts'
import type { NestedLink } from './nested-link.ts'

/** What the `mcp_*` tools do with a link. */
export function nestedTools(link: NestedLink): NestedTools {
  const { nested } = link.workspace
  return {
    async list() {
      await link.refresh()
      return nested.list(link.scope)
    },
    add: (declaration, options) => nested.add(link.scope, declaration, options),
    remove: name => nested.remove(link.scope, name),
    async tools(name, { signal } = {}) {
      if (link.catalogue.server(name)?.initialize === undefined) await link.ensure(name, signal)
      const server = link.catalogue.server(name)
      if (server === undefined) throw new WorkspaceError('not_found', `There is no MCP server "${name}".`)
      return (server.lists.tools ?? []).map(tool => shownTool(link, name, tool))
    },
  }
}

function shownTool(
  { catalogue }: NestedLink,
  server: string,
  { name, description, inputSchema }: Record<string, unknown>,
): ShownTool {
  const shown = catalogue.shownTool(server, String(name))
  return {
    name: String(name),
    inputSchema,
    ...(shown !== undefined && { shown }),
    ...(typeof description === 'string' && { description }),
  }
}
