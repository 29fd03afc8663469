import type { NotebookCell, NotebookFacts } from '../view.ts'
import { type Fields, idOf, isFields, parseNotebook, textOf } from './notebook-json.ts'
import { outputsOf } from './notebook-outputs.ts'
import type { NotebookJob } from './protocol.ts'
import { Refusal } from './refusal.ts'
import { Room } from './room.ts'

const SOURCE_CHARS = 20_000

/** The asked cells with their outputs, as many as the answer holds. Throws a `Refusal` for what is no notebook. */
export async function readNotebook(bytes: Uint8Array, job: NotebookJob): Promise<NotebookFacts> {
  const notebook = parseNotebook(bytes)
  if ('none' in notebook) throw new Refusal('unsupported', notebook.none)
  const { cells, fields } = notebook
  const first = job.offset < 0 ? Math.max(0, cells.length + job.offset) : Math.max(1, job.offset) - 1
  const room = new Room(job.maxChars)
  const shown: NotebookCell[] = []
  for (const [index, cell] of cells.slice(first, first + job.limit).entries()) {
    if (room.chars <= 0) break
    shown.push(await readCell(cell, { number: first + index + 1, room, job }))
  }
  return {
    format: `${fields.nbformat ?? '?'}.${fields.nbformat_minor ?? '?'}`,
    language: languageOf(fields),
    cellCount: cells.length,
    cells: shown,
  }
}

async function readCell(
  cell: Fields,
  { number, room, job }: { number: number; room: Room; job: NotebookJob },
): Promise<NotebookCell> {
  const { text: source, cut } = room.fit(textOf(cell.source), SOURCE_CHARS)
  const run = typeof cell.execution_count === 'number' ? cell.execution_count : undefined
  const type = typeof cell.cell_type === 'string' ? cell.cell_type.slice(0, 20) : 'unknown'
  return { number, type, id: idOf(cell), run, source, cut, ...(await outputsOf(cell, { room, bounds: job })) }
}

function languageOf({ metadata }: Fields): string | undefined {
  if (!isFields(metadata)) return undefined
  for (const about of [metadata.language_info, metadata.kernelspec]) {
    const name = isFields(about) ? about.name : undefined
    if (typeof name === 'string' && name !== '') return name.slice(0, 40)
  }
  return undefined
}
