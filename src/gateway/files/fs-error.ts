import type { ErrorCode } from '../../lib/errors.ts'
import { WorkspaceError } from '../../lib/errors.ts'

const KNOWN: Record<string, { code: ErrorCode; why: string; hint?: string }> = {
  ENOENT: { code: 'not_found', why: 'no such file or directory' },
  ENOTDIR: { code: 'invalid_argument', why: 'a part of the path is a file, not a directory' },
  EISDIR: { code: 'invalid_argument', why: 'it is a directory' },
  EEXIST: { code: 'already_exists', why: 'it exists already' },
  ENOTEMPTY: {
    code: 'precondition_failed',
    why: 'the directory is not empty',
    hint: 'Remove it recursively, or empty it first.',
  },
  EACCES: { code: 'permission_denied', why: 'permission denied', hint: 'Check owner and mode with `ls -l`.' },
  EPERM: {
    code: 'permission_denied',
    why: 'operation not permitted',
    hint: 'Check owner, mode and attributes (`ls -l`, `lsattr`).',
  },
  EROFS: { code: 'permission_denied', why: 'the file system is read-only', hint: 'Write to another directory.' },
  ELOOP: { code: 'invalid_argument', why: 'too many symbolic links' },
  ENAMETOOLONG: { code: 'invalid_argument', why: 'the name is too long' },
  ENOSPC: { code: 'no_space', why: 'no space left on the device' },
  EDQUOT: { code: 'no_space', why: 'the disk quota is used up' },
  EFBIG: { code: 'too_large', why: 'the file would be larger than is allowed here' },
  ETXTBSY: { code: 'precondition_failed', why: 'the program is running', hint: 'End it first.' },
  EMFILE: { code: 'limit_exceeded', why: 'too many open files' },
  ENFILE: { code: 'limit_exceeded', why: 'too many open files on the system' },
  ENXIO: { code: 'invalid_argument', why: 'it is a device or pipe without another end' },
  EAGAIN: { code: 'unavailable', why: 'reading it would block' },
}

/** The errno name of a thrown value, where it has one. */
export function errno(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** A failed system call as a `WorkspaceError` that says what (`read`, `write`, …) failed on which path, and why. */
export function fsError(error: unknown, action: string, path: string): WorkspaceError {
  if (error instanceof WorkspaceError) return error
  if (error instanceof Error && error.name === 'AbortError')
    return new WorkspaceError('cancelled', `The call to ${action} ${path} was cancelled.`, { cause: error })
  const code = errno(error)
  const known = code === undefined ? undefined : KNOWN[code]
  if (known !== undefined)
    return new WorkspaceError(known.code, `Cannot ${action} ${path}: ${known.why}.`, { hint: known.hint, cause: error })
  const why = error instanceof Error ? error.message : String(error)
  // The system refused: rare reasons too are not our fault.
  if (code !== undefined)
    return new WorkspaceError('unavailable', `Cannot ${action} ${path}: ${why}.`, { hint: 'Look at it with Bash.', cause: error })
  return new WorkspaceError('internal', `Cannot ${action} ${path}: ${why}.`, { cause: error })
}
