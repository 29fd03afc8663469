import type { AdapterFactory, ConnectionConfig, Sandboxes } from '@alibaba-group/opensandbox'
import { checkKey } from '../check-key.ts'
import { importSdk } from '../import-sdk.ts'
import { DEFAULT_DOMAIN, type OpenSandboxSettings } from './settings.ts'

export type { Sandboxes }
export type Execd = ReturnType<AdapterFactory['createExecdStack']>
type Fetch = typeof fetch

/** Where the program inside a sandbox is reached, and what it wants to see in each request. */
export interface ExecdPlace {
  /** `http://host:port/path`, without a slash at the end. */
  url: string
  headers: Record<string, string>
}

/** The SDK's services, each bound to one way of sending requests. */
export interface Sdk {
  /** `http` or `https`, as the domain or the settings have it. */
  protocol: string
  /** For people: where the server is. */
  address: string
  sandboxes(send: Fetch): Sandboxes
  execd(place: ExecdPlace, send: Fetch): Execd
  /** Headers that a sandbox's endpoint needs beside its own; never the API key where the sandbox itself would see it. */
  endpointHeaders: Record<string, string>
}

const TOKEN_HEADER = 'X-EXECD-ACCESS-TOKEN'

/** Loads the SDK and binds the settings that say where the server is. Asks nothing of it. */
export async function connectSdk(settings: OpenSandboxSettings): Promise<Sdk> {
  const { apiKey = '', domain = DEFAULT_DOMAIN, protocol = 'http', headers = {}, useServerProxy = false, accessToken } = settings
  checkKey('opensandbox', apiKey === '' ? undefined : apiKey)
  checkKey('opensandbox', accessToken)
  const sdk = await importSdk<typeof import('@alibaba-group/opensandbox')>('opensandbox', '@alibaba-group/opensandbox')
  const config = new sdk.ConnectionConfig({
    // An empty key keeps the SDK from looking for one in the environment.
    ...{ apiKey, domain, protocol, headers, useServerProxy, disableMetrics: true, endpointCacheDisabled: true },
  })
  const factory = sdk.createDefaultAdapterFactory()
  const token = accessToken === undefined ? {} : { [TOKEN_HEADER]: accessToken }
  return {
    protocol: config.protocol,
    address: config.getBaseUrl(),
    sandboxes: send =>
      factory.createLifecycleStack({ connectionConfig: sending(config, send), lifecycleBaseUrl: config.getBaseUrl() }).sandboxes,
    execd: ({ url, headers: own }, send) =>
      factory.createExecdStack({
        connectionConfig: sending(config, send, {}),
        execdBaseUrl: url,
        endpointHeaders: own,
      }),
    endpointHeaders: { ...(useServerProxy ? config.headers : {}), ...token },
  }
}

/** The configuration with another way of sending and, where given, other headers. */
function sending(config: ConnectionConfig, send: Fetch, headers = config.headers): ConnectionConfig {
  return Object.create(config, {
    fetch: { value: send },
    sseFetch: { value: send },
    headers: { value: headers },
  }) as ConnectionConfig
}
