import { type Confinement, confineTo } from './confinement.ts'
import type { GatewayCalls } from './environment-link.ts'
import type { WorkspaceLimits } from './limits.ts'
import type { Search } from './ports.ts'

/** Finds files and text through a gateway, in the workdir unless a path is given. */
export function createSearch(gateway: GatewayCalls, place: Confinement, limits: WorkspaceLimits): Search {
  const at = (path: string | undefined) => {
    const folder = path ?? place.workdir
    return { path: folder, ...confineTo(folder, place, 'read') }
  }
  const timeoutMs = limits.searchTimeoutMs
  return {
    glob: ({ path, ...params }, options) =>
      gateway.call('search.glob', { limit: limits.globMaxFiles, timeoutMs, ...params, ...at(path) }, options),
    grep: ({ path, ...params }, options) =>
      gateway.call(
        'search.grep',
        { limit: limits.grepMaxEntries, offset: 0, timeoutMs, ...params, ...at(path), maxLineBytes: limits.grepMaxLineBytes },
        options,
      ),
  }
}
