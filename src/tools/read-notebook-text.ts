import type { NotebookCell, NotebookOutput, NotebookView } from '../workspace/reading/view.ts'
import { compose } from './compose.ts'
import { count, formatBytes } from './units.ts'

/** A notebook's cells with their outputs; images are numbered as they follow the text. */
export function notebookText({ path, size, format, language, cellCount, cells }: NotebookView, offset = 1): string {
  const about = [count(cellCount, 'cell'), language, `format ${format}`, formatBytes(size)].filter(part => part !== undefined)
  const head = `${path} is a notebook: ${about.join(', ')}.`
  if (cells.length === 0) return compose(head, [cellCount === 0 ? undefined : `nothing at offset ${offset}: offset counts cells`])
  let images = 0
  const shown = cells.map(cell => cellText(cell, () => ++images))
  const [first, last] = [cells[0]?.number ?? 1, cells.at(-1)?.number ?? 1]
  return compose([head, ...shown].join('\n\n'), [
    first === 1 && last === cellCount
      ? undefined
      : `${last === first ? `cell ${first}` : `cells ${first}-${last}`} of ${cellCount}`,
    last < cellCount ? `more follow: read on with offset ${last + 1}` : undefined,
    'Edit takes old_string and new_string as the source of a cell',
  ])
}

function cellText(cell: NotebookCell, nextImage: () => number): string {
  const { number, type, id, run, source, cut, outputs, more } = cell
  const about = [`cell ${number}`, type, ...(id === undefined ? [] : [`id ${id}`]), ...(run === undefined ? [] : [`run ${run}`])]
  const parts = [`--- ${about.join(' · ')} ---`, source === '' ? '[empty]' : source.replace(/\n$/, '')]
  if (cut > 0) parts.push(`[${cut} more characters of its source are left out]`)
  for (const output of outputs) parts.push(outputText(output, nextImage))
  if (more > 0) parts.push(`[${count(more, 'more output')} left out]`)
  return parts.join('\n')
}

function outputText({ label, text, cut, image, why }: NotebookOutput, nextImage: () => number): string {
  if (image !== undefined) return `>>> ${label}: image ${nextImage()} (${image.width} × ${image.height} pixels)`
  if (why !== undefined) return `>>> ${label}: [${why}]`
  const left = cut > 0 ? `\n[${cut} more characters are left out]` : ''
  return `>>> ${label}\n${(text ?? '').replace(/\n$/, '')}${left}`
}
