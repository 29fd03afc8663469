import { WorkspaceError } from '../../lib/errors.ts'

/** Pages as they are asked for: `3`, `1-5`, or `7-` to the end. Throws `invalid_argument`. */
export function parsePages(pages: string): { first: number; last: number | undefined } {
  const [, from = '', dash, to = ''] = /^\s*(\d{1,9})\s*(?:([-–])\s*(\d{1,9})?\s*)?$/.exec(pages) ?? []
  const first = Number(from)
  const last = dash === undefined ? first : to === '' ? undefined : Number(to)
  if (first >= 1 && (last === undefined || last >= first)) return { first, last }
  throw new WorkspaceError('invalid_argument', `Argument "pages" is ${JSON.stringify(pages.slice(0, 80))}: no range of pages.`, {
    hint: 'Pages count from 1: "3", "1-5", or "7-" to the end.',
  })
}
