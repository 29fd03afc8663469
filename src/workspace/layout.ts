import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { WorkspaceError } from '../lib/errors.ts'

/** Atelier's own places under a root, as absolute paths inside the environment. Each is made when first needed. */
export interface Layout {
  /** Declared nested servers. */
  mcpFile: string
  /** Blobs named by their content. */
  data: string
  skills: string
  sessions: string
  /** Jobs, spilled output, locks. */
  own: string
}

/** The places under `root`; nothing is made or looked at. */
export function layoutOf(root: string): Layout {
  return {
    mcpFile: posix.join(root, '.mcp'),
    data: posix.join(root, 'data'),
    skills: posix.join(root, 'skills'),
    sessions: posix.join(root, 'sessions'),
    own: posix.join(root, '.atelier'),
  }
}

/** Folder of one session's offloaded context and results. */
export function sessionFolder(layout: Layout, session: string): string {
  return posix.join(layout.sessions, pathSegment(session))
}

/** Log of one job. */
export function jobLog(layout: Layout, job: string): string {
  return posix.join(layout.own, 'jobs', job, 'log')
}

/** Folder of one agent's skills; an unnamed agent has `default`. */
export function skillsFolder(layout: Layout, agent: string): string {
  return posix.join(layout.skills, pathSegment(agent === '' ? 'default' : agent))
}

const MAX_SEGMENT_BYTES = 200

/**
 * An id as one path segment: itself where that is safe, else with the unsafe characters as `%XX`; a long one ends in a hash.
 * Different ids give different segments. Throws `invalid_argument` on an empty id.
 */
export function pathSegment(id: string): string {
  if (id === '') throw new WorkspaceError('invalid_argument', 'An empty id can not name a folder.')
  const encoded = id.replace(/[/\\%\p{Cc}\p{Cs}]|^\./gu, encodeCharacter)
  if (Buffer.byteLength(encoded) <= MAX_SEGMENT_BYTES) return encoded
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 32)
  return `${Buffer.from(encoded)
    .subarray(0, 100)
    .toString('utf8')
    .replace(/\uFFFD+$/u, '')}%${hash}`
}

function encodeCharacter(character: string): string {
  if (/\p{Cs}/u.test(character)) return `%u${character.charCodeAt(0).toString(16).toUpperCase()}`
  return [...Buffer.from(character)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
