import { WorkspaceError } from '../../lib/errors.ts'
import { readWhole } from './byte-source.ts'
import type { FileStat, OpenFile } from './open-regular.ts'
import { type Fingerprint, fingerprintOf, fingerprintOfStat, HASH_LIMIT, type ReadState } from './read-state.ts'

/** The fingerprint of an open file; its content too where `bytes` were read already. */
export async function fingerprint(file: OpenFile, bytes?: Buffer): Promise<Fingerprint> {
  if (Number(file.stat.size) > HASH_LIMIT) return fingerprintOfStat(file.stat)
  return fingerprintOf(bytes ?? (await readWhole(file, HASH_LIMIT + 1)))
}

/** The fingerprint of content that was just written. */
export function fingerprintWritten(content: Uint8Array, after: FileStat): Fingerprint {
  return content.length > HASH_LIMIT ? fingerprintOfStat(after) : fingerprintOf(content)
}

/** Throws `precondition_failed` unless the session last saw or wrote exactly this content. */
export function expectKnown(state: ReadState, where: { session: string; real: string; path: string }, now: Fingerprint): void {
  const seen = state.seen(where.session, where.real)
  if (seen === now) return
  if (seen === undefined)
    throw new WorkspaceError('precondition_failed', `${where.path} has not been read yet in this session.`, {
      hint: 'Read it first, then repeat the change.',
    })
  throw new WorkspaceError('precondition_failed', `${where.path} has changed since it was read.`, {
    hint: 'Read it again, then repeat the change.',
  })
}
