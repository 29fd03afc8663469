import { posix } from 'node:path'
import { contains } from '../lib/paths.ts'

/** Where the agent may go. `root` can be read as well, since logs and offloaded results lie there. */
export interface Confinement {
  confine: 'workdir' | 'none'
  workdir: string
  root: string
}

/**
 * The `confine` parameter of a file call on `path`; empty where nothing is confined. The gateway checks the real path against
 * it: here only the folder is chosen.
 */
export function confineTo(path: string, place: Confinement, access: 'read' | 'write'): { confine?: string } {
  if (place.confine === 'none') return {}
  const target = posix.resolve(place.workdir, path)
  const inRoot = access === 'read' && contains(place.root, target) && !contains(place.workdir, target)
  return { confine: inRoot ? place.root : place.workdir }
}
