import { occurrences, splice } from '../../../gateway/files/splice.ts'
import { type LineEnds, normalise, restore } from '../../../gateway/files/text-lines.ts'
import { checkNotebook, type Fields, idOf, type NotebookJson, parseNotebook, textOf } from './notebook-json.ts'
import { findSources, type SourcePlace, writeSource } from './notebook-source.ts'
import type { NotebookChange, NotebookEditJob } from './protocol.ts'
import { Refusal } from './refusal.ts'

const MAX_LISTED = 10

/**
 * An edit of a notebook as an edit of its text. What is meant is the source of a cell, else the JSON itself; either way the notebook
 * stays one. `undefined` where the file is none already: then there is nothing to keep. Throws a `Refusal`.
 */
export function editNotebook(bytes: Uint8Array, job: NotebookEditJob): NotebookChange | undefined {
  const notebook = parseNotebook(bytes)
  if ('none' in notebook) return undefined
  const wanted = job.oldString.replaceAll('\r\n', '\n')
  const hits = notebook.cells
    .map((cell, index) => ({ index, count: occurrences(linesOf(cell).text, wanted).length }))
    .filter(({ count }) => count > 0)
  const total = hits.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return editJson(notebook, job)
  if (total > 1 && !job.replaceAll) throw notUnique(hits, total)
  return editCells(notebook, new Set(hits.map(({ index }) => index)), { job, wanted, total })
}

function notUnique(hits: readonly { index: number }[], total: number): Refusal {
  const cells = hits.slice(0, MAX_LISTED).map(({ index }) => index + 1)
  const which = `${cells.length === 1 ? 'cell' : 'cells'} ${cells.join(', ')}${hits.length > MAX_LISTED ? ', …' : ''}`
  return new Refusal(
    'invalid_argument',
    `The old text occurs ${total} times in the source of the notebook's cells (${which}).`,
    'Give more of the surrounding lines so that it is unique, or set replace_all.',
  )
}

interface Meant {
  job: NotebookEditJob
  wanted: string
  total: number
}

function editCells({ text, cells }: NotebookJson, changed: ReadonlySet<number>, { job, wanted, total }: Meant): NotebookChange {
  const places = findSources(text).filter(({ cell }) => changed.has(cell))
  const wish = { from: wanted, to: job.newString.replaceAll('\r\n', '\n') }
  const after = (cell: Fields) => replaced(linesOf(cell), wish)
  const [first, last] = [places[0], places.at(-1)]
  if (first === undefined || last === undefined || places.length !== changed.size) throw strange()
  let at = first.start
  let to = ''
  for (const place of places) {
    to += text.slice(at, place.start) + writeSource(text, place, after(cells[place.cell] as Fields))
    at = place.end
  }
  const result = checkNotebook(text.slice(0, first.start) + to + text.slice(last.end))
  if ('none' in result || !places.every(({ cell }) => textOf(result.cells[cell]?.source) === after(cells[cell] as Fields)))
    throw strange()
  const shown = places.map(({ cell }) => ({
    number: cell + 1,
    id: idOf(cells[cell] as Fields),
    source: textOf(result.cells[cell]?.source),
  }))
  return { ...unique(text, { start: first.start, end: last.end }, to), replacements: total, cells: shown }
}

/** A cell's source with `\n` at the ends of its lines, and how each is spelled in the file. */
function linesOf({ source }: Fields): LineEnds {
  const text = textOf(source)
  return text.includes('\r\n') ? normalise(text) : { text, ends: '\n' }
}

function replaced(before: LineEnds, wish: { from: string; to: string }): string {
  return restore(splice(before, occurrences(before.text, wish.from), wish))
}

/** The change with as many of the lines around it as make it the only one of its kind. */
function unique(text: string, { start, end }: Pick<SourcePlace, 'start' | 'end'>, to: string): { from: string; to: string } {
  let [left, right] = [start, end]
  for (let lines = 1; ; lines *= 2) {
    for (let line = 0; line < lines; line++) {
      left = left === 0 ? 0 : text.lastIndexOf('\n', left - 2) + 1
      const next = text.indexOf('\n', right)
      right = next === -1 ? text.length : next + 1
    }
    const from = text.slice(left, right)
    const alone = text.indexOf(from) === left && text.indexOf(from, left + 1) === -1
    if (alone || (left === 0 && right === text.length)) return { from, to: text.slice(left, start) + to + text.slice(end, right) }
  }
}

function editJson({ text }: NotebookJson, { oldString, newString, replaceAll }: NotebookEditJob): NotebookChange {
  const plain = (value: string) => value.replaceAll('\r\n', '\n')
  const [json, from, to] = [plain(text), plain(oldString), plain(newString)]
  const count = occurrences(json, from).length
  if (count === 0)
    throw new Refusal(
      'invalid_argument',
      'The old text occurs in the source of no cell, nor in the JSON of the notebook.',
      'Read the file again, and copy the text of one cell exactly as it is shown there.',
    )
  // Several are told apart by who makes the change.
  if (count > 1 && !replaceAll) return { from: oldString, to: newString, replacements: count, cells: [] }
  const after = checkNotebook(json.split(from).join(to))
  if ('none' in after)
    throw new Refusal(
      'invalid_argument',
      `The edit of the JSON would break the notebook: ${after.none}. Nothing was written.`,
      'Give old_string and new_string as the source of a cell, as Read shows it; or as JSON that stays valid, quotes and line ends escaped.',
    )
  return { from: oldString, to: newString, replacements: count, cells: [] }
}

const strange = (): Refusal =>
  new Refusal(
    'unsupported',
    "The notebook's JSON has a form that can't be edited cell by cell.",
    'Change it with Bash, e.g. with Python and its json module.',
  )
