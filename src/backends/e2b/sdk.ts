import type { CommandHandle, CommandStartOpts, E2B, Sandbox, SandboxInfo } from 'e2b'
import { WorkspaceError } from '../../lib/errors.ts'
import { checkKey } from '../check-key.ts'
import { importSdk } from '../import-sdk.ts'
import type { E2bSettings } from './settings.ts'

export type { CommandHandle, CommandStartOpts, Sandbox, SandboxInfo }
/** The SDK's class with the operator's settings bound to it. */
export type Sandboxes = E2B['Sandbox']

/** What is used of the SDK. */
export interface Sdk {
  sandboxes: Sandboxes
  /** Whether the account sees a template of that name. */
  templateExists(name: string, signal: AbortSignal): Promise<boolean>
}

/** Loads the SDK and binds the settings that say where the service is. Asks nothing of it. */
export async function connectSdk(settings: E2bSettings): Promise<Sdk> {
  const { apiKey, domain, apiUrl, sandboxUrl, proxy, requestTimeoutMs } = settings
  if (apiKey === undefined || apiKey === '') {
    throw new WorkspaceError('unauthenticated', 'Backend e2b has no API key.', {
      hint: 'Set E2B_API_KEY, or e2b.apiKey in the configuration. Keys are at https://e2b.dev/dashboard?tab=keys.',
    })
  }
  checkKey('e2b', apiKey)
  const sdk = await importSdk<typeof import('e2b')>('e2b', 'e2b')
  const given = { domain, apiUrl, sandboxUrl, proxy, requestTimeoutMs }
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  // A debugging SDK pretends: its sandboxes are not asked for, not paused and not removed.
  const { Sandbox, Template } = new sdk.E2B({ apiKey, debug: false, ...known })
  return { sandboxes: Sandbox, templateExists: (name, signal) => Template.exists(name, { signal }) }
}
