import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, ProbeStep } from '../backend.ts'
import { ask, type E2bContext } from './service.ts'
import { DEFAULT_TEMPLATE } from './settings.ts'

/** What `e2b` needs, each with what was found: a key, the service with that key. A template shows only when a sandbox is made of it. */
export async function probeE2b(connect: () => Promise<E2bContext>, options: CallOptions = {}): Promise<ProbeStep[]> {
  const steps: ProbeStep[] = []
  try {
    const { sandboxes, settings } = await connect()
    steps.push({ name: 'key', ok: true, detail: 'an API key is set' })
    const pages = sandboxes.list({ limit: 1 })
    await ask('The service', signal => pages.nextItems(signal === undefined ? {} : { signal }), options)
    const at = settings.apiUrl ?? `https://api.${settings.domain ?? 'e2b.app'}`
    steps.push({ name: 'service', ok: true, detail: `${at} takes the key` })
    steps.push({ name: 'template', ok: true, detail: `new sandboxes are made of "${settings.template ?? DEFAULT_TEMPLATE}"` })
  } catch (error) {
    const { message, hint } = toWorkspaceError(error)
    const name = steps.length === 0 ? 'key' : 'service'
    steps.push({ name, ok: false, detail: message, ...(hint === undefined ? {} : { hint }) })
  }
  return steps
}
