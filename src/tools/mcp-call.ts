import { z } from 'zod'
import { WorkspaceError } from '../lib/errors.ts'
import { anyMap, text } from './arguments.ts'
import { defineTool } from './tool.ts'
import { unknownServer } from './unknown-server.ts'

/**
 * Calls a tool of a nested server. A call that fits goes to the server itself, before it gets here, so that nothing of the
 * conversation is lost; what gets here does not fit.
 */
export const mcpCall = defineTool({
  name: 'mcp_call',
  title: 'Call a tool of an MCP server',
  description: 'Calls a tool of an MCP server of the workspace, also one that your tool list does not show.',
  input: z.strictObject({
    server: text('Name of the server'),
    tool: text("The server's own name of the tool"),
    arguments: anyMap('Arguments of the tool'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  takesWorkspace: true,
  async run({ server, tool }, { nested }) {
    const servers = await nested()
    const all = await servers.list()
    if (!all.some(({ name }) => name === server)) throw await unknownServer(server, servers)
    throw new WorkspaceError('permission_denied', `The tool "${tool}" of ${server} is turned off by its declaration.`, {
      hint: `mcp_list with server ${JSON.stringify(server)} shows what is on.`,
    })
  },
})
