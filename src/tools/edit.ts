import { z } from 'zod'
import type { EditResult } from '../gateway/protocol.ts'
import type { NotebookEditResult } from '../workspace/reading/port.ts'
import { flag, text } from './arguments.ts'
import { compose } from './compose.ts'
import { numbered } from './numbered.ts'
import { defineTool } from './tool.ts'

const NOTEBOOK = /\.ipynb$/i
const MAX_SHOWN = 3
const SHOWN_CHARS = 4_000

/** Replaces an exact piece of a file; of a notebook, in the source of its cells. */
export const edit = defineTool({
  name: 'Edit',
  title: 'Edit a file',
  description:
    'Replaces old_string by new_string in a file that was read before. old_string must match exactly (without line numbers) and once, unless replace_all; an empty one creates a file.',
  input: z.strictObject({
    file_path: text('Absolute, or relative to the workspace directory'),
    old_string: z.string(),
    new_string: z.string(),
    replace_all: flag('Replace every occurrence'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  takesWorkspace: true,
  async run({ file_path, old_string, new_string, replace_all = false }, { session, signal, workspace }) {
    const { files, viewer } = await workspace()
    const request = { path: file_path, session, oldString: old_string, newString: new_string, replaceAll: replace_all }
    if (NOTEBOOK.test(file_path)) return { text: notebookEditText(await viewer.editNotebook(request, { signal })) }
    return { text: editText(await files.edit(request, { signal })) }
  },
})

function editText({ path, created, replacements, excerpt, notices }: EditResult): string {
  const done = created ? `Created ${path}.` : doneText(path, replacements)
  const around = excerpt.map(({ line, text: shown }) => numbered(line, shown))
  return compose([around.length === 0 ? done : `${done.slice(0, -1)}; it now reads:`, ...around].join('\n'), notices)
}

function doneText(path: string, replacements: number): string {
  return replacements === 1 ? `Edited ${path}.` : `Replaced ${replacements} occurrences in ${path}.`
}

function notebookEditText({ path, replacements, cells, notices }: NotebookEditResult): string {
  const shown = cells.slice(0, MAX_SHOWN).map(({ number, id, source }) => {
    const left = source.length > SHOWN_CHARS ? `\n[${source.length - SHOWN_CHARS} more characters]` : ''
    return `--- cell ${number}${id === undefined ? '' : ` · id ${id}`} now reads ---\n${source.slice(0, SHOWN_CHARS)}${left}`
  })
  const more =
    cells.length > MAX_SHOWN
      ? `cells ${cells
          .slice(MAX_SHOWN)
          .map(cell => cell.number)
          .join(', ')} were changed too`
      : undefined
  return compose([doneText(path, replacements), ...shown].join('\n'), [more, ...notices])
}
