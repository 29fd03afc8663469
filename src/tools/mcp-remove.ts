import { z } from 'zod'
import { WorkspaceError } from '../lib/errors.ts'
import { text } from './arguments.ts'
import { defineTool } from './tool.ts'
import { serversHint } from './unknown-server.ts'

/** Ends a nested MCP server and forgets it. */
export const mcpRemove = defineTool({
  name: 'mcp_remove',
  title: 'Remove an MCP server',
  description: 'Ends an MCP server with all its processes, and forgets it.',
  input: z.strictObject({ name: text('Name of the server') }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  takesWorkspace: true,
  async run({ name }, { nested }) {
    const servers = await nested()
    if (await servers.remove(name)) return { text: `Removed ${name}: it was ended, and its tools are gone.` }
    throw new WorkspaceError('not_found', `There is no MCP server "${name}".`, { hint: await serversHint(servers) })
  },
})
