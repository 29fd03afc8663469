import { z } from 'zod'
import { objects } from './arguments.ts'
import { compose } from './compose.ts'
import { offloadLink } from './offload-text.ts'
import { defineTool } from './tool.ts'
import { count, formatBytes } from './units.ts'

/** Moves messages out of a context. */
export const offloadContext = defineTool({
  name: 'offload_context',
  title: 'Move messages to a file',
  description:
    "Appends messages to this session's context.jsonl, one JSON line each; images and other data go to files of their own. Gives path, URI and a preview: keep those and drop the messages.",
  input: z.strictObject({
    messages: objects('Messages in the form of OpenAI, Anthropic, the AI SDK, MCP or AgentScope'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  takesWorkspace: true,
  async run({ messages }, { conversation, signal, workspace }) {
    const { offload } = await workspace()
    const done = await offload.offloadContext(conversation, messages, { signal })
    const { path, uri, size, offset, blobs, preview } = done
    const at = offset === undefined || offset === 0 || size === 0 ? '' : ` from byte ${offset} on`
    const data = blobs.length === 0 ? '' : `, and ${count(blobs.length, 'data block')} in ${folderOf(blobs[0]!.path)}`
    const text = compose(
      `${count(messages.length, 'message')} (${formatBytes(size)}) in ${path}${at}${data}.\n${preview}`.trim(),
      [uri],
    )
    return size === 0
      ? { text }
      : { text, content: [offloadLink({ path, uri, size: (offset ?? 0) + size }, 'application/jsonl')] }
  },
})

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}
