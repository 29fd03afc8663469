import { WorkspaceError } from '../../lib/errors.ts'
import type { Files, PortOptions } from '../ports.ts'
import type { NotebookEditParams, NotebookEditResult } from './port.ts'
import type { NotebookChange } from './process/protocol.ts'
import { READING_LIMITS } from './reading-limits.ts'
import type { Reading } from './views.ts'

interface Editing extends PortOptions {
  reading(file: { path: string; size: number }): Reading
}

/**
 * Edits a notebook as text: where the old text stands in the source of a cell, the cell's JSON is what is replaced. The gateway makes
 * the change, and refuses it where the file is no longer what the session has read.
 */
export async function editNotebook(
  files: Pick<Files, 'edit' | 'stat'>,
  params: NotebookEditParams,
  { reading, signal }: Editing,
): Promise<NotebookEditResult> {
  const { path, type, size } = await files.stat(params.path, { signal })
  // What is no file, or not to be changed, is told by the edit itself.
  const plain = type !== 'file' || params.oldString === '' || params.oldString === params.newString
  if (!plain && size > READING_LIMITS.notebookBytes)
    throw new WorkspaceError(
      'too_large',
      `${path} has ${size} bytes; notebooks of up to ${READING_LIMITS.notebookBytes} are edited.`,
      {
        hint: 'Change it with Bash, e.g. with Python and its json module.',
      },
    )
  const change = plain ? undefined : await changeOf(params, reading({ path, size }))
  const {
    replacements,
    notices,
    path: edited,
  } = await files.edit({ ...params, ...(change !== undefined && { oldString: change.from, newString: change.to }) }, { signal })
  const broken = !plain && change === undefined ? ['It is no valid notebook: it was edited as plain text.'] : []
  return {
    path: edited,
    replacements: change?.replacements ?? replacements,
    cells: change?.cells ?? [],
    notices: [...notices, ...broken],
  }
}

async function changeOf({ path, oldString, newString, replaceAll }: NotebookEditParams, reading: Reading) {
  const messages = reading.read({ kind: 'notebook-edit', size: reading.size, oldString, newString, replaceAll })
  for await (const message of messages) if (message.kind === 'change') return message.change satisfies NotebookChange | undefined
  throw new WorkspaceError('internal', `The reader of ${path} ended without an answer.`)
}
