import { z } from 'zod'
import { optionalText } from './arguments.ts'
import { compose } from './compose.ts'
import { defineTool } from './tool.ts'

/** Ends what runs in a workspace and suspends it. */
export const workspaceClose = defineTool({
  name: 'workspace_close',
  title: 'Close a workspace',
  description: 'Ends its jobs and suspends it; files stay, and the next use opens it again.',
  input: z.strictObject({ workspace: optionalText('Id or name; default: the current one') }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  takesWorkspace: false,
  async run({ workspace }, { directory, signal }) {
    const { summary, notices } = await directory.close(workspace, { signal })
    // What is suspended may run on for a moment, and a notice says where it does so for longer.
    const after = summary.state === 'gone' ? ' It is gone.' : ' Its files stay, and the next call in it opens it again.'
    return { text: compose(`Closed ${summary.name}.${after}`, notices) }
  },
})
