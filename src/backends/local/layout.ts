import { join } from 'node:path'
import type { EnvironmentSpec } from '../backend.ts'
import { digest } from '../host/layout.ts'

/**
 * Any text as one path segment: plain lower-case words as they are, all else as a readable part, `~` and a hash. Two texts
 * never share a segment, not even on a file system that ignores case.
 */
export function encodeSegment(text: string): string {
  if (/^[a-z0-9_][a-z0-9_.-]{0,63}$/.test(text) && !text.endsWith('.')) return text
  const readable = text
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .slice(0, 32)
  return `${readable || '_'}~${digest([text]).slice(0, 10)}`
}

/** Folder that holds the workspaces which Atelier makes. */
export function workspacesFolder(dataDir: string): string {
  return join(dataDir, 'workspaces')
}

/** Directory of a workspace that Atelier makes: readable by its name, unique by its id. */
export function namedFolder(dataDir: string, spec: Pick<EnvironmentSpec, 'id' | 'name' | 'owner'>): string {
  return join(workspacesFolder(dataDir), encodeSegment(spec.owner.user), `${encodeSegment(spec.name)}-${idTail(spec.id)}`)
}

/** The part of an id that ends a named folder's name. */
export function idTail(id: string): string {
  return digest([id]).slice(0, 10)
}
