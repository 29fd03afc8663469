import { z } from 'zod'
import type { GlobResult } from '../gateway/protocol.ts'
import { optionalText, text } from './arguments.ts'
import { compose } from './compose.ts'
import { shownPath } from './relative.ts'
import { defineTool } from './tool.ts'
import { count } from './units.ts'

/** Finds files by a pattern of their names. */
export const glob = defineTool({
  name: 'Glob',
  title: 'Find files by name',
  description:
    'Finds files by a glob such as "src/**/*.{ts,tsx}", newest first. Includes hidden and ignored files, but not .git.',
  input: z.strictObject({
    pattern: text('Glob pattern'),
    path: optionalText('Folder to search; default: the workspace directory'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  maxResultChars: 100_000,
  takesWorkspace: true,
  async run({ pattern, path }, { signal, workspace }) {
    const { files, search } = await workspace()
    const result = await search.glob({ pattern, ...(path === undefined ? {} : { path }) }, { signal })
    return { text: globText(result, { pattern, workdir: files.workdir }) }
  },
})

function globText(result: GlobResult, { pattern, workdir }: { pattern: string; workdir: string }): string {
  const none = result.notices.length === 0 ? 'No files match' : 'No matching files were found so far for'
  if (result.files.length === 0) return compose(`${none} "${pattern}" in ${result.path}.`, result.notices)
  const total = result.total > result.files.length ? ` of ${result.total}` : ''
  const cap = result.truncated
    ? `the newest ${result.files.length}${total} files are shown; narrow the pattern or the path for others`
    : count(result.files.length, 'file')
  return compose(result.files.map(file => shownPath(file, workdir)).join('\n'), [cap, ...result.notices])
}
