import type { BackendSettings } from '../../backends/registry.ts'
import type { Config } from '../../config.ts'
import { given } from '../../manager/targets.ts'
import { dockerSettings } from '../docker-settings.ts'

type Chosen = Parameters<typeof dockerSettings>[0] &
  Pick<Config, 'backend' | 'declarationEnv'> & { [K in Exclude<keyof BackendSettings, 'docker'>]?: Config[K] }

/**
 * What the configuration says of each backend. A service counts as configured when it has its key in the configuration, is the
 * default backend, or its API key is in the environment; a kubeconfig alone hands no cluster to agents. What the configuration
 * leaves out comes from the variables that the services' own tools read; `image` is that of containers, Pods and sandboxes alike.
 */
export function backendSettings(config: Chosen): BackendSettings {
  const { declarationEnv: env, image, backend } = config
  const common = given({ image })
  const isMeant = (name: Exclude<keyof BackendSettings, 'docker'>, ...variables: string[]) =>
    backend === name || config[name] !== undefined || variables.some(variable => env[variable])
  return {
    docker: dockerSettings(config),
    ...(isMeant('e2b', 'E2B_API_KEY') && { e2b: { ...present(E2B_VARIABLES, env), ...config.e2b } }),
    ...(isMeant('daytona', 'DAYTONA_API_KEY', 'DAYTONA_JWT_TOKEN') && {
      daytona: { ...present(DAYTONA_VARIABLES, env), ...common, ...config.daytona },
    }),
    ...(isMeant('kubernetes') && {
      kubernetes: { ...present({ kubeconfig: 'KUBECONFIG' }, env), ...common, ...config.kubernetes },
    }),
    ...(isMeant('opensandbox', 'OPEN_SANDBOX_API_KEY', 'OPEN_SANDBOX_DOMAIN') && {
      opensandbox: { ...present(OPENSANDBOX_VARIABLES, env), ...common, ...config.opensandbox },
    }),
  }
}

const E2B_VARIABLES = { apiKey: 'E2B_API_KEY', domain: 'E2B_DOMAIN', apiUrl: 'E2B_API_URL', sandboxUrl: 'E2B_SANDBOX_URL' }
const DAYTONA_VARIABLES = {
  apiKey: 'DAYTONA_API_KEY',
  jwtToken: 'DAYTONA_JWT_TOKEN',
  organizationId: 'DAYTONA_ORGANIZATION_ID',
  apiUrl: 'DAYTONA_API_URL',
  target: 'DAYTONA_TARGET',
}
const OPENSANDBOX_VARIABLES = { apiKey: 'OPEN_SANDBOX_API_KEY', domain: 'OPEN_SANDBOX_DOMAIN' }

function present<K extends string>(
  names: Readonly<Record<K, string>>,
  env: Config['declarationEnv'],
): Partial<Record<K, string>> {
  const pairs = Object.entries<string>(names).map(([key, name]) => [key, env[name]] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value)) as Partial<Record<K, string>>
}
