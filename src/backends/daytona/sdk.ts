import { createRequire } from 'node:module'
import type { Daytona, Sandbox } from '@daytonaio/sdk'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { checkKey } from '../check-key.ts'
import { importSdk } from '../import-sdk.ts'
import { Calls } from './calls.ts'
import { type DaytonaSettings, DEFAULT_API_URL, DEFAULT_REQUEST_TIMEOUT_MS } from './settings.ts'

export type { Sandbox } from '@daytonaio/sdk'

/** What all parts of the backend work with. */
export interface DaytonaContext {
  client: Daytona
  calls: Calls
  settings: DaytonaSettings
  /** Headers of requests that the SDK does not make for us. */
  headers: Readonly<Record<string, string>>
  logger: Logger
}

const PACKAGE = '@daytonaio/sdk'

/**
 * Loads the SDK and makes its client. Everything is given explicitly: what is missing, the SDK would take from this process's
 * environment and from `.env` files of the directory it was started in. Events are polled for, so that nothing stays open.
 */
export async function connectDaytona(settings: DaytonaSettings, logger: Logger): Promise<DaytonaContext> {
  const { apiKey, jwtToken, organizationId, apiUrl = DEFAULT_API_URL, target } = settings
  const secret = apiKey ?? jwtToken
  if (secret === undefined) {
    throw new WorkspaceError('unsupported', 'Backend daytona is not set up: it has no API key.', {
      hint: 'Set DAYTONA_API_KEY, or DAYTONA_JWT_TOKEN with DAYTONA_ORGANIZATION_ID, then start Atelier again.',
    })
  }
  checkKey('daytona', secret)
  if (apiKey === undefined && organizationId === undefined) {
    throw new WorkspaceError('unsupported', 'Backend daytona is not set up: it has a token and no organization.', {
      hint: 'Set DAYTONA_ORGANIZATION_ID, or use an API key.',
    })
  }
  const sdk = await importSdk<typeof import('@daytonaio/sdk')>('daytona', PACKAGE, load)
  const calls = new Calls([secret])
  try {
    const client = new sdk.Daytona({
      ...(apiKey === undefined ? { jwtToken: secret } : { apiKey }),
      ...(organizationId === undefined ? {} : { organizationId }),
      ...(target === undefined ? {} : { target }),
      ...{ apiUrl, useDeprecatedPolling: true, otelEnabled: false },
      requestTimeoutMs: settings.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS,
    })
    const organization = apiKey === undefined ? { 'X-Daytona-Organization-ID': organizationId ?? '' } : {}
    return { client, calls, settings, headers: { Authorization: `Bearer ${secret}`, ...organization }, logger }
  } catch (error) {
    throw calls.error(error, `Daytona at ${apiUrl}`)
  }
}

/** Its CommonJS form loads in half the time and memory. */
async function load(): Promise<typeof import('@daytonaio/sdk')> {
  return createRequire(import.meta.url)(PACKAGE)
}

/** Base address of the program inside a sandbox. */
export function toolboxUrl({ toolboxProxyUrl, id }: Sandbox): string {
  return `${toolboxProxyUrl.replace(/\/+$/, '')}/${id}`
}
