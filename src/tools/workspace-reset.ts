import { z } from 'zod'
import { flag, optionalText } from './arguments.ts'
import { confirmed } from './confirmed.ts'
import { defineTool } from './tool.ts'

const VERB = { would: 'Resetting', done: 'Reset' }

/** Empties a workspace's sessions, data and skills; says first what goes. */
export const workspaceReset = defineTool({
  name: 'workspace_reset',
  title: 'Reset a workspace',
  description:
    "Ends its jobs and empties Atelier's folders (sessions, data, skills); other files stay. Without confirm it only says what would go.",
  input: z.strictObject({
    workspace: optionalText('Id or name; default: the current one'),
    confirm: flag('Do it'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  takesWorkspace: false,
  run({ workspace, confirm }, { directory, signal, confirmation }) {
    const removal = {
      tool: 'workspace_reset',
      verb: VERB,
      plan: () => directory.planReset(workspace),
      run: () => directory.reset(workspace, { signal }),
    }
    return confirmed(removal, { confirm, confirmation })
  },
})
