import { z } from 'zod'
import { anyValue, text } from './arguments.ts'
import { compose } from './compose.ts'
import { offloadLink } from './offload-text.ts'
import { defineTool } from './tool.ts'
import { formatBytes } from './units.ts'

/** Moves a tool's result out of a context. */
export const offloadToolResult = defineTool({
  name: 'offload_tool_result',
  title: 'Move a result to a file',
  description: "Keeps a tool's result as a text file of this session. Gives path, URI and a preview, to keep in its place.",
  input: z.strictObject({
    id: text('Id of the tool call'),
    result: anyValue('Text, content blocks, or a whole result'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  takesWorkspace: true,
  async run({ id, result }, { conversation, signal, workspace }) {
    const { offload } = await workspace()
    const done = await offload.offloadToolResult(conversation, withId(id, result), { signal })
    return {
      text: compose(`The result (${formatBytes(done.size)}) is in ${done.path}.\n${done.preview}`.trim(), [done.uri]),
      content: [offloadLink(done, 'text/plain')],
    }
  },
})

function withId(id: string, result: unknown): object {
  const whole = typeof result === 'object' && result !== null && !Array.isArray(result) && !('text' in result)
  return whole ? { ...result, id } : { id, output: result }
}
