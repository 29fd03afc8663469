import { WorkspaceError } from '../lib/errors.ts'

/** A size as "120x40": columns, then rows. */
export function parseSize(text: string): { columns: number; rows: number } {
  const match = /^\s*(\d{1,4})\s*[x×*,]\s*(\d{1,4})\s*$/i.exec(text)
  if (match) return { columns: Number(match[1]), rows: Number(match[2]) }
  throw new WorkspaceError('invalid_argument', `The size ${JSON.stringify(text)} can't be read.`, {
    hint: 'Give columns x rows, as "120x40".',
  })
}
