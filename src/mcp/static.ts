/** What is true of every session before anything is loaded. Plain data: the loader embeds it. */
declare const __VERSION__: string

/** Protocol versions that we speak, newest first. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const
export type ProtocolVersion = (typeof PROTOCOL_VERSIONS)[number]

/** A prompt on a blue ground, as SVG in base64: what data URIs of icons are. */
const ICON =
  'PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAxNiAxNiI+PHJlY3Qgd2lkdGg9IjE2IiBoZWlnaH' +
  'Q9IjE2IiByeD0iMyIgZmlsbD0iIzFmNmZlYiIvPjxwYXRoIGQ9Im00IDUgMyAzLTMgM200LjUgMEgxMiIgZmlsbD0ibm9uZSIgc3Ryb2tlPSIj' +
  'ZmZmIiBzdHJva2Utd2lkdGg9IjEuNiIvPjwvc3ZnPg=='

export const SERVER_INFO = {
  name: 'atelier',
  title: 'Atelier',
  version: typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0',
  description: 'Workspaces for agents: run commands, read, write, edit and search files.',
  icons: [{ src: `data:image/svg+xml;base64,${ICON}`, mimeType: 'image/svg+xml', sizes: ['any'] }],
}

/** Only what works is declared. */
export const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
  extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
}

/** Server instructions; clients put them into the model's context, so they stay under 1 500 characters. */
export const INSTRUCTIONS = `Atelier gives you a workspace: a directory with a shell, where files and processes stay between calls.

- The first call opens the default workspace; nothing has to be created first. workspace_list shows all, workspace_use changes the current one, and every tool takes workspace to name another for one call.
- Bash runs a command. Working directory and exported variables carry over to the next call. stdin is empty unless asked for. Start servers and long work with run_in_background, then read with BashOutput and end with KillBash. A command that outlasts 45 s goes on as such a job: the answer names its id.
- Use Read, Write, Edit, Glob and Grep for files instead of cat, sed, find and grep. Relative paths start at the workdir. Read a file before changing it; Edit replaces one exact, unique text unless replace_all is set.
- Long output is cut in the middle; the answer says where the whole lies and how to read on.
- Skills are instructions for kinds of work: skill_list names them, Skill loads one.
- An error says what failed and what to do next. A command's non-zero exit code is a result, not an error.
- mcp_add starts another MCP server in the workspace: its tools join your list as mcp__<server>__<tool>; mcp_call reaches them where the list stays as it was.
- Others may be at work in the same workspace: delete and stop only what is yours.
- Workspace files are also resources: workspace://<id>/<path>. The prompt workspace-instructions describes the folders.`

/** The answer to `initialize`: the asked version when we speak it, else our newest. */
export function initializeResult(params: unknown): {
  protocolVersion: ProtocolVersion
  capabilities: typeof CAPABILITIES
  serverInfo: typeof SERVER_INFO
  instructions: string
} {
  const asked =
    typeof params === 'object' && params !== null ? (params as { protocolVersion?: unknown }).protocolVersion : undefined
  const protocolVersion = PROTOCOL_VERSIONS.find(version => version === asked) ?? PROTOCOL_VERSIONS[0]
  return { protocolVersion, capabilities: CAPABILITIES, serverInfo: SERVER_INFO, instructions: INSTRUCTIONS }
}
