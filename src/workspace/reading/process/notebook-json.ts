import { isUtf8 } from 'node:buffer'

export type Fields = Record<string, unknown>

/** A notebook as JSON has it, as far as its outer form was checked. */
export interface NotebookJson {
  /** The file's text, without a byte order mark. */
  text: string
  fields: Fields
  cells: Fields[]
}

/** Reads a notebook of format 4; gives why it is none otherwise. */
export function parseNotebook(bytes: Uint8Array): NotebookJson | { none: string; json: boolean } {
  if (!isUtf8(bytes)) return { none: 'it is not in UTF-8', json: false }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString()
    .replace(/^\ufeff/, '')
  const checked = checkNotebook(text)
  return 'none' in checked ? checked : { text, ...checked }
}

/** The same for text. */
export function checkNotebook(text: string): Pick<NotebookJson, 'fields' | 'cells'> | { none: string; json: boolean } {
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch (error) {
    return { none: `it is no valid JSON (${error instanceof Error ? firstLine(error.message) : error})`, json: false }
  }
  if (!isFields(fields)) return { none: 'its JSON is no object', json: true }
  if (typeof fields.nbformat === 'number' && fields.nbformat < 4)
    return { none: `it has the old format ${fields.nbformat} (jupyter nbconvert --to notebook makes a new one)`, json: true }
  if (!Array.isArray(fields.cells) || !fields.cells.every(isFields)) return { none: 'it has no list of cells', json: true }
  return { fields, cells: fields.cells }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text of a notebook: whole, or as a list of lines. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.filter(line => typeof line === 'string').join('') : ''
}

/** A cell's id, where it has one. */
export function idOf({ id }: Fields): string | undefined {
  return typeof id === 'string' && id !== '' ? id.slice(0, 100) : undefined
}

const firstLine = (text: string): string => (text.split('\n')[0] ?? '').slice(0, 120)
