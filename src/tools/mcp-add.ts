import { z } from 'zod'
import type { ServerDeclaration } from '../workspace/nested-servers/port.ts'
import { optionalText, text, textMap, texts } from './arguments.ts'
import { present } from './compose.ts'
import { namesText } from './nested-text.ts'
import { defineTool } from './tool.ts'
import { count } from './units.ts'

/** Starts a nested MCP server, and keeps it declared. */
export const mcpAdd = defineTool({
  name: 'mcp_add',
  title: 'Add an MCP server',
  description:
    'Starts an MCP server inside the workspace (command) or dials one from there (url); its tools join the tool list as mcp__<name>__<tool>. Kept only if it connects. Variables in values ($ and braces) are filled in at each start.',
  input: z.strictObject({
    name: text('Name to call it by'),
    command: optionalText('Program, as Bash would find it'),
    args: texts('Arguments of the program'),
    env: textMap('Environment variables'),
    cwd: optionalText('Directory; default: the workdir'),
    url: optionalText('Instead of command'),
    headers: textMap('HTTP headers for url'),
    type: z.enum(['http', 'sse']).optional().describe('Transport of url; default: found out'),
    expose: z.enum(['prefixed', 'bare', 'hidden']).optional().describe('Names of its tools; hidden: mcp_call only'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  takesWorkspace: true,
  async run(input, { nested, signal }) {
    const servers = await nested()
    const { name, serverInfo, instructions, warnings } = await servers.add(present(input) as unknown as ServerDeclaration, {
      signal,
    })
    const tools = await servers.tools(name, { signal })
    const is =
      serverInfo?.name === undefined ? '' : ` (${String(serverInfo.name)} ${String(serverInfo.version ?? '')})`.replace(' )', ')')
    const lines = [
      `Added ${name}${is}: ${count(tools.length, 'tool')}${tools.length === 0 ? '' : `: ${namesText(tools)}`}.`,
      'If your tool list stays as it is, use mcp_call; mcp_list with server shows the arguments.',
      ...(instructions ? [`Its instructions: ${instructions}`] : []),
      ...warnings.map(warning => `Note: ${warning}`),
    ]
    return { text: lines.join('\n') }
  },
})
