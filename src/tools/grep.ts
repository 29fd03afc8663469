import { z } from 'zod'
import { flag, integer, optionalText, text } from './arguments.ts'
import { present } from './compose.ts'
import { grepText } from './grep-text.ts'
import { defineTool } from './tool.ts'

/** Entries given when a caller asks for all of them (`head_limit: 0`). */
const ALL = 10_000

/** Finds text in files. */
export const grep = defineTool({
  name: 'Grep',
  title: 'Search in files',
  description:
    'Searches file contents with ripgrep (Rust regular expressions). Hidden files are searched, those in .gitignore are not.',
  input: z.strictObject({
    pattern: text('Regular expression'),
    path: optionalText('File or folder; default: the workspace directory'),
    output_mode: z.enum(['content', 'files_with_matches', 'count']).optional().describe('Default files_with_matches'),
    glob: optionalText('Only files whose name matches, e.g. *.ts'),
    type: optionalText('Only files of a ripgrep type, e.g. py'),
    '-i': flag('Ignore case'),
    '-n': flag('Line numbers; default true'),
    '-A': integer(0, 'Lines after'),
    '-B': integer(0, 'Lines before'),
    '-C': integer(0, 'Lines around'),
    multiline: flag('Match across lines'),
    head_limit: integer(0, 'Entries to give; default 250'),
    offset: integer(0, 'Entries to skip'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  maxResultChars: 100_000,
  takesWorkspace: true,
  async run(input, { signal, workspace }) {
    const { files, search } = await workspace()
    const { pattern, output_mode: mode = 'files_with_matches', offset = 0, '-n': lineNumbers = true } = input
    const content = mode === 'content'
    const optional = present({
      path: input.path,
      glob: input.glob,
      type: input.type,
      ignoreCase: input['-i'],
      before: content ? (input['-B'] ?? input['-C']) : undefined,
      after: content ? (input['-A'] ?? input['-C']) : undefined,
      multiline: input.multiline,
      limit: input.head_limit === 0 ? ALL : input.head_limit,
    })
    const result = await search.grep({ pattern, mode, offset, ...optional }, { signal })
    return { text: grepText(result, { pattern, workdir: files.workdir, offset, lineNumbers }) }
  },
})
