/** What a person needs to connect clients to a running server. */
export interface Invitation {
  url: string
  /** Absent where the server does not know it (users file) or it came from the operator, who does. */
  token: string | undefined
  /** Whether clients need one at all. */
  needsToken: boolean
  tokenNote: string
  /** Directory that the operator chose, if any. */
  directory?: string | undefined
  /** Absolute paths of Node and the program, for clients that start servers themselves. */
  node: string
  program: string
}

/** Ready-to-paste entries for the usual clients. */
export function clientEntries({ url, token, needsToken, tokenNote, directory, node, program }: Invitation): string {
  const bearer = `Authorization: Bearer ${token ?? '<token>'}`
  const header = needsToken ? ` --header "${bearer}"` : ''
  const where = directory === undefined ? [] : ['--directory', directory]
  const stdio = { mcpServers: { atelier: { command: node, args: [program, 'stdio', ...where] } } }
  const headers = needsToken ? { headers: { Authorization: `Bearer ${token ?? '<token>'}` } } : {}
  const http = { mcpServers: { atelier: { type: 'http', url, ...headers } } }
  return [
    `Atelier serves MCP at ${url}`,
    ...(needsToken ? [`Token: ${token ?? '(not shown)'} (${tokenNote})`] : ['No token is asked for.']),
    '',
    'Claude Code:',
    `  claude mcp add --transport http atelier ${url}${header}`,
    '',
    'Claude Code (.mcp.json), Cursor and others, over HTTP:',
    `  ${JSON.stringify(http)}`,
    '',
    'Claude Desktop (claude_desktop_config.json) and others that start servers themselves, over stdio:',
    `  ${JSON.stringify(stdio)}`,
    ...(directory === undefined ? ['  To work in a directory of yours, add "--directory", "/its/path" to args.'] : []),
    '',
    'MCP Inspector:',
    `  npx @modelcontextprotocol/inspector --cli ${url} --transport http${header} --method tools/list`,
    '',
  ].join('\n')
}
