import type { Backend, EnvironmentSpec } from '../../../src/backends/backend.ts'
import type { Workspace } from '../../../src/workspace/workspace.ts'
import type { Faults } from '../../stand-ins/shared/faults.ts'
import type { FaultWorld } from './place.ts'

/** What the suites of a backend on its stand-in have in common; `behind` does something to a sandbox behind our back. */
interface StandInWorld<D extends string> {
  base: string
  script: string
  account: { apiKey: string }
  readonly faults: Faults
  backend(options?: object): Backend
  spec(id: string): EnvironmentSpec
  behind(deed: D, sandbox: string): Promise<unknown>
  clear(): Promise<unknown>
  remove(): Promise<unknown>
}

interface Manners<D extends string> extends Pick<FaultWorld, 'environments' | 'requests' | 'steps'> {
  deeds: { paused: D; expired: D; removed: D }
}

/** The world of a stand-in, as the faults of the matrix want it. */
export function standInWorld<D extends string>(
  world: StandInWorld<D>,
  { environments, deeds, ...manners }: Manners<D>,
): FaultWorld {
  const { base, script, account, backend, spec, clear, remove } = world
  const deed =
    (name: D) =>
    ({ info }: Workspace) =>
      world.behind(name, info.incarnation ?? '')
  return {
    ...{ base, script, backend, spec, clear, remove, environments, left: environments, ...manners },
    ...{ settings: account, secret: account.apiKey },
    deeds: { paused: deed(deeds.paused), expired: deed(deeds.expired), removed: deed(deeds.removed) },
    get faults() {
      return world.faults
    },
  }
}
