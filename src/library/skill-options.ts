import { WorkspaceError } from '../lib/errors.ts'
import type { PortOptions } from '../workspace/ports.ts'
import type { ArchiveFormat } from '../workspace/skills/port.ts'
import { SKILL_LIMITS } from '../workspace/skills/skill-limits.ts'

/** Whose skills are meant: absent, those of the workspace's own scope; `''`, those of callers without a name. */
export interface SkillOptions extends PortOptions {
  agent?: string
}

export interface SkillArchiveOptions extends SkillOptions {
  /** Absent: told by the first bytes. */
  format?: ArchiveFormat
  /** Most bytes that it may expand to; default: 500 MiB. */
  maxExtractedBytes?: number
}

/** An archive as bytes, or as the stream of them. */
export type ArchiveInput = Uint8Array | AsyncIterable<Uint8Array>

/** All bytes of an archive; throws `too_large` once there are more than one may have. */
export async function archiveBytes(input: ArchiveInput): Promise<Uint8Array> {
  if (input instanceof Uint8Array) return input
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of input) {
    size += chunk.length
    if (size > SKILL_LIMITS.maxArchiveBytes)
      throw new WorkspaceError('too_large', `The archive has more than ${SKILL_LIMITS.maxArchiveBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
