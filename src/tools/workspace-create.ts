import { z } from 'zod'
import { BACKEND_NAMES } from '../backends/backend.ts'
import { optionalText } from './arguments.ts'
import { present } from './compose.ts'
import { bySentence, defineTool } from './tool.ts'
import { summaryLine } from './workspace-text.ts'

/** Makes a workspace, or attaches to one by its name. */
export const workspaceCreate = defineTool({
  name: 'workspace_create',
  title: 'Create a workspace',
  description: 'Creates a workspace, or attaches to the one of that name, and makes it current.',
  input: z.strictObject({
    name: optionalText('Name to find it by again'),
    backend: z.enum(BACKEND_NAMES).optional(),
    image: optionalText('Container image, where allowed'),
    profile: optionalText("One of the operator's profiles"),
    env: z.record(z.string(), z.string()).optional().describe('Environment variables'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  takesWorkspace: false,
  async run(input, { directory, signal, onProgress }) {
    const { summary, created } = await directory.create(present(input), { signal, onProgress: bySentence(onProgress) })
    return { text: `${created ? 'Created' : 'Attached to'} ${summaryLine(summary)}` }
  },
})
