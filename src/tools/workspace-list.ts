import { z } from 'zod'
import { defineTool } from './tool.ts'
import { listText } from './workspace-text.ts'

/** Lists the caller's workspaces. */
export const workspaceList = defineTool({
  name: 'workspace_list',
  title: 'List workspaces',
  description: 'Lists your workspaces with state and directory.',
  input: z.strictObject({}),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  takesWorkspace: false,
  async run(_input, { directory, signal }) {
    return { text: listText(await directory.list({ signal })) }
  },
})
