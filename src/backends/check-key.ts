import { WorkspaceError } from '../lib/errors.ts'

/** Throws `unauthenticated` for a key that no request can carry: `fetch` would show it, whole, in its own error. */
export function checkKey(backend: string, key: string | undefined): void {
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return
  throw new WorkspaceError(
    'unauthenticated',
    `The key of the backend ${backend} has a blank, a line break or another character that no key has.`,
    {
      hint: 'Copy it again, without what is around it.',
    },
  )
}
