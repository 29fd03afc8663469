import { z } from 'zod'
import { flag, integer, optionalText, text } from './arguments.ts'
import { readText } from './read-text.ts'
import { viewAnswer } from './read-view.ts'
import { defineTool } from './tool.ts'

/** Shows a file, or a part of it: text with line numbers, other formats as their readers give them. */
export const read = defineTool({
  name: 'Read',
  title: 'Read a file',
  description:
    'Reads a text file with line numbers (cat -n): 2000 lines from the start, unless offset and limit say otherwise. Shows images, PDF pages, notebooks as cells (offset and limit count them), sounds, and what archives hold.',
  input: z.strictObject({
    file_path: text('Absolute, or relative to the workspace directory'),
    offset: integer(undefined, 'First line, from 1; negative counts from the end'),
    limit: integer(1, 'Number of lines'),
    pages: optionalText('Pages of a PDF, e.g. 1-5; at most 20, needed over 10'),
    images: flag('PDF pages as images, not as text'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  maxResultChars: 200_000,
  takesWorkspace: true,
  async run({ file_path, offset, ...asked }, { session, signal, workspace }) {
    const { viewer } = await workspace()
    const view = await viewer.view({ path: file_path, session, ...(offset !== 0 && { offset }), ...asked }, { signal })
    const shown = view.kind === 'text' ? { text: readText(view.result, offset, view.remark) } : viewAnswer(view, offset)
    return { ...shown, offload: false }
  },
})
