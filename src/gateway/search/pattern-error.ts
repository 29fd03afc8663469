import { WorkspaceError } from '../../lib/errors.ts'
import type { GrepParams } from '../protocol.ts'
import { fileTypeNames } from './file-types.ts'

/** What an engine said against the pattern, the glob or the type of a search, as `invalid_argument` that quotes it. */
export function patternError({ pattern, glob, type }: GrepParams, said: string): WorkspaceError {
  if (type !== undefined && /unrecognized file type/.test(said))
    return new WorkspaceError('invalid_argument', `There is no file type ${JSON.stringify(type)}.`, {
      hint: `Use glob instead, or one of: ${fileTypeNames().join(', ')}.`,
    })
  const reason = reasonOf(said)
  if (glob !== undefined && /glob/.test(said))
    return new WorkspaceError('invalid_argument', `The glob ${JSON.stringify(glob)} is not valid: ${reason}.`)
  return new WorkspaceError(
    'invalid_argument',
    `The pattern ${JSON.stringify(pattern)} is not a valid regular expression: ${reason}.`,
    {
      hint: /literal .*\\n.* not allowed/s.test(said)
        ? 'Set multiline to match across lines.'
        : 'Escape special characters with a backslash to match them literally, e.g. \\( \\[ \\{ \\*.',
    },
  )
}

function reasonOf(said: string): string {
  const error = /^\s*(?:rg: )?error: (.*)$/m.exec(said)?.[1]
  const line = error ?? said.split('\n').find(part => part.trim() !== '') ?? said
  return line.replace(/^rg: /, '').trim().replace(/\.$/, '')
}
