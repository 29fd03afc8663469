import { WorkspaceError } from '../lib/errors.ts'
import { nearest } from '../lib/suggest.ts'
import type { NestedTools } from './nested-tools.ts'

/** The error for a server that is not there, with what is. */
export async function unknownServer(name: string, servers: NestedTools): Promise<WorkspaceError> {
  const near = nearest(
    name,
    (await servers.list()).map(server => server.name),
  )
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  return new WorkspaceError('not_found', `There is no MCP server "${name}".${meant}`, { hint: await serversHint(servers) })
}

/** The error for a name of a nested tool that leads nowhere. */
export async function unknownNestedTool(name: string, servers: NestedTools): Promise<WorkspaceError> {
  return new WorkspaceError('not_found', `No MCP server of the workspace has a tool "${name}".`, {
    hint: await serversHint(servers),
  })
}

/** Which servers there are, and how they are. */
export async function serversHint(servers: NestedTools): Promise<string> {
  const all = (await servers.list()).map(({ name, state }) => `${name} (${state})`)
  return all.length === 0
    ? 'There are no MCP servers: mcp_add starts one.'
    : `The servers are: ${all.join(', ')}. mcp_list tells more.`
}
