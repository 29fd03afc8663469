import { WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { BACKEND_NAMES, type Backend, type BackendName } from './backend.ts'
import type { DaytonaSettings } from './daytona/settings.ts'
import type { DockerSettings } from './docker/settings.ts'
import type { E2bSettings } from './e2b/settings.ts'
import type { KubernetesSettings } from './kubernetes/settings.ts'
import type { OpenSandboxSettings } from './opensandbox/settings.ts'

/** The operator's choices, by backend; a service without any is not used. */
export interface BackendSettings {
  docker?: DockerSettings
  e2b?: E2bSettings
  daytona?: DaytonaSettings
  kubernetes?: KubernetesSettings
  opensandbox?: OpenSandboxSettings
}

export interface RegistryOptions extends BackendSettings {
  /** Where Atelier keeps its data on this host. */
  dataDir: string
  runtimeBase?: string
  logger: Logger
}

type Factory = (options: RegistryOptions) => Promise<Backend>

/** The one list of backends. Each is loaded when it is first asked for. */
const FACTORIES: Record<BackendName, Factory> = {
  local: async ({ dataDir, runtimeBase, logger }) =>
    (await import('./local/local.ts')).createLocalBackend({
      dataDir,
      logger,
      ...(runtimeBase === undefined ? {} : { runtimeBase }),
    }),
  docker: async ({ docker, dataDir, logger }) =>
    (await import('./docker/docker.ts')).createDockerBackend({ ...docker, dataDir, logger }),
  e2b: async ({ e2b, logger }) => (await import('./e2b/e2b.ts')).createE2bBackend({ ...configured('e2b', e2b), logger }),
  daytona: async ({ daytona, logger }) =>
    (await import('./daytona/daytona.ts')).createDaytonaBackend({ ...configured('daytona', daytona), logger }),
  kubernetes: async ({ kubernetes, dataDir, logger }) =>
    (await import('./kubernetes/kubernetes.ts')).createKubernetesBackend({
      ...configured('kubernetes', kubernetes),
      dataDir,
      logger,
    }),
  opensandbox: async ({ opensandbox, logger }) =>
    (await import('./opensandbox/opensandbox.ts')).createOpenSandboxBackend({
      ...configured('opensandbox', opensandbox),
      logger,
    }),
}

/** The settings of a backend that is not there for everybody; `unsupported` where the operator did not configure it. */
function configured<T>(name: BackendName, settings: T | undefined): T {
  if (settings !== undefined) return settings
  throw new WorkspaceError('unsupported', `Backend ${name} is not configured.`, {
    hint: `The operator gives it in the configuration, as "${name}": {…}; docs/${name}.md has the keys.`,
  })
}

/** A getter for each backend; it makes the backend once, and tries again after a failure. */
export function createBackends(options: RegistryOptions): ReadonlyMap<BackendName, () => Promise<Backend>> {
  return new Map(BACKEND_NAMES.map(name => [name, once(() => FACTORIES[name](options))]))
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch(error => {
      made = undefined
      throw error
    })
    return made
  }
}
