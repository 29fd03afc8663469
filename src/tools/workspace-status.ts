import { z } from 'zod'
import { optionalText } from './arguments.ts'
import { defineTool } from './tool.ts'
import { statusText } from './workspace-text.ts'

/** Says how a workspace is. */
export const workspaceStatus = defineTool({
  name: 'workspace_status',
  title: 'Show a workspace',
  description: 'State, directory, jobs, limits and use of a workspace.',
  input: z.strictObject({ workspace: optionalText('Id or name; default: the current one') }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  takesWorkspace: false,
  async run({ workspace }, { directory, signal }) {
    const { summary, use } = await directory.status(workspace, { signal })
    return { text: statusText(summary, use) }
  },
})
