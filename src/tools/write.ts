import { z } from 'zod'
import { text } from './arguments.ts'
import { compose } from './compose.ts'
import { defineTool } from './tool.ts'
import { count, formatBytes } from './units.ts'

/** Makes a file, or replaces what is in it. */
export const write = defineTool({
  name: 'Write',
  title: 'Write a file',
  description: 'Creates a file with its folders, or replaces a file that was read before.',
  input: z.strictObject({
    file_path: text('Absolute, or relative to the workspace directory'),
    content: z.string().describe('The whole new content'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  takesWorkspace: true,
  async run({ file_path, content }, { session, signal, workspace }) {
    const { files } = await workspace()
    const { path, created, bytes, lines, encoding, notices } = await files.write(
      { path: file_path, content, session },
      { signal },
    )
    const unusual = /^utf-?8$/i.test(encoding) ? '' : `, ${encoding}`
    return {
      text: compose(
        `${created ? 'Created' : 'Updated'} ${path} (${count(lines, 'line')}, ${formatBytes(bytes)}${unusual}).`,
        notices,
      ),
    }
  },
})
