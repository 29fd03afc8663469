import type { CallOptions, ProbeStep } from '../backend.ts'
import { Probe } from '../probe.ts'
import { e2bError } from './errors.ts'
import type { E2bContext } from './service.ts'
import { DEFAULT_TEMPLATE } from './settings.ts'

const ADDRESS_HINT = 'See whether e2b.domain, or e2b.apiUrl, is the address of the service, and https://status.e2b.dev.'
/** What ids of templates look like; the service is asked by name alone. */
const ID = /^[a-z0-9]{20}$/

/** What `e2b` needs, each with what was found: a key, the service that takes it, the template. */
export async function probeE2b(connect: () => Promise<E2bContext>, { signal }: CallOptions = {}): Promise<ProbeStep[]> {
  const probe = new Probe()
  const context = await probe.connect('configured', connect, {
    found: () => 'an API key is set',
    signal,
  })
  if (context === undefined) return probe.steps
  const { sandboxes, settings, templateExists } = context
  const address = settings.apiUrl ?? `https://api.${settings.domain ?? 'e2b.app'}`
  const once = <T>(what: string, asked: Promise<T>): Promise<T> =>
    asked.catch(error => {
      throw e2bError(error, what, { signal })
    })
  const list = (end: AbortSignal) => once(address, sandboxes.list({ limit: 1 }).nextItems({ signal: end }))
  if (!(await probe.reach(address, list, { hint: ADDRESS_HINT, signal }))) return probe.steps
  const template = settings.template ?? DEFAULT_TEMPLATE
  const [name = ''] = template.split(':')
  await probe.step(
    'template',
    async end => {
      const exists = await once(`Template "${template}"`, templateExists(name, end))
      if (exists) return `"${template}" is there`
      if (ID.test(name)) return `"${template}" is no name: whether there is a template of that id shows when a sandbox is made`
      throw e2bError(new Error(`template '${template}' not found`), address)
    },
    { signal },
  )
  return probe.steps
}
