import { z } from 'zod'
import { optionalText } from './arguments.ts'
import { serverText, toolsText } from './nested-text.ts'
import { defineTool } from './tool.ts'

/** Shows the nested MCP servers. */
export const mcpList = defineTool({
  name: 'mcp_list',
  title: 'List MCP servers',
  description: 'MCP servers of the workspace: state, why one failed, instructions. With server: its tools and their arguments.',
  input: z.strictObject({ server: optionalText('Name of one server') }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  takesWorkspace: true,
  async run({ server }, { nested, signal }) {
    const servers = await nested()
    if (server !== undefined) return { text: toolsText(server, await servers.tools(server, { signal })) }
    const all = await servers.list()
    return { text: all.length === 0 ? 'No MCP servers here. mcp_add starts one.' : all.map(serverText).join('\n') }
  },
})
