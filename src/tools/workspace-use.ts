import { z } from 'zod'
import { text } from './arguments.ts'
import { defineTool } from './tool.ts'
import { summaryLine } from './workspace-text.ts'

/** Makes a workspace the current one. */
export const workspaceUse = defineTool({
  name: 'workspace_use',
  title: 'Switch workspace',
  description: 'Makes a workspace current: calls without a workspace go there.',
  input: z.strictObject({ workspace: text('Id or name') }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  takesWorkspace: false,
  async run({ workspace }, { directory, signal }) {
    const summary = await directory.use(workspace, { signal })
    return { text: `Now current: ${summaryLine({ ...summary, current: false })}` }
  },
})
