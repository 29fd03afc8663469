import { WorkspaceError } from '../../lib/errors.ts'
import type { Files, PortOptions } from '../ports.ts'

/** The bytes of one file, a range at a time. */
export interface ByteSource {
  readonly size: number
  /** Shorter where the file ends. */
  read(offset: number, length: number): Promise<Uint8Array>
}

/** Ranges of a file of the workspace; one that changes its size meanwhile is an error. */
export function fileBytes(
  files: Pick<Files, 'bytes'>,
  { path, size }: { path: string; size: number },
  options: PortOptions,
): ByteSource {
  return {
    size,
    async read(offset, length) {
      const part = await files.bytes(path, { offset, length }, options)
      if (part.size === size) return part.data
      throw new WorkspaceError('precondition_failed', `${path} has changed while it was read.`, { hint: 'Read it again.' })
    },
  }
}
