import { z } from 'zod'
import { flag, optionalText } from './arguments.ts'
import { confirmed } from './confirmed.ts'
import { defineTool } from './tool.ts'

const VERB = { would: 'Deleting', done: 'Deleted' }

/** Removes a workspace with its files; says first what goes. */
export const workspaceDelete = defineTool({
  name: 'workspace_delete',
  title: 'Delete a workspace',
  description: 'Deletes a workspace with all its files. Without confirm it only says what would go.',
  input: z.strictObject({
    workspace: optionalText('Id or name; default: the current one'),
    confirm: flag('Do it'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  takesWorkspace: false,
  run({ workspace, confirm }, { directory, signal, confirmation }) {
    const removal = {
      tool: 'workspace_delete',
      verb: VERB,
      plan: () => directory.planDelete(workspace),
      run: () => directory.delete(workspace, { signal }),
    }
    return confirmed(removal, { confirm, confirmation })
  },
})
