import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, ProbeStep } from '../backend.ts'
import { Probe } from '../probe.ts'
import { statusOf } from './errors.ts'
import { labelQuery } from './record.ts'
import type { DaytonaContext } from './sdk.ts'
import { DEFAULT_API_URL } from './settings.ts'

const ADDRESS_HINT = 'Check the network and DAYTONA_API_URL (it ends in /api), and https://status.daytona.io.'
/** Nobody wants to wait for a rate limit to learn that there is one. */
const ONCE = { patienceMs: 0 }

/** What `daytona` needs, each with what was found: a key, the service that takes it, the snapshot or image. */
export async function probeDaytona(connect: () => Promise<DaytonaContext>, { signal }: CallOptions = {}): Promise<ProbeStep[]> {
  const probe = new Probe()
  const context = await probe.connect('configured', connect, {
    found: ({ settings }) => (settings.apiKey === undefined ? 'a token is set' : 'an API key is set'),
    signal,
  })
  if (context === undefined) return probe.steps
  const { client, calls, settings } = context
  const { apiUrl = DEFAULT_API_URL, target, namespace } = settings
  const query = { labels: labelQuery({}, namespace), limit: 1 }
  const list = (end: AbortSignal) => calls.run(`Daytona at ${apiUrl}`, () => client.list(query).next(), { ...ONCE, signal: end })
  const address = `${apiUrl}${target === undefined ? '' : `, region ${target}`}`
  if (!(await probe.reach(address, list, { hint: ADDRESS_HINT, signal }))) return probe.steps
  await sourceStep(probe, context, signal)
  return probe.steps
}

/** What new sandboxes are made from. An image is known to the service alone, and shows when a sandbox is made. */
async function sourceStep(probe: Probe, { client, calls, settings }: DaytonaContext, signal: AbortSignal | undefined) {
  const { snapshot, image } = settings
  if (snapshot === undefined) {
    const detail = image === undefined ? 'the default snapshot of the service' : `${image}, pulled or built at the first use`
    return probe.steps.push({ name: image === undefined ? 'snapshot' : 'image', ok: true, detail })
  }
  return probe.step(
    'snapshot',
    async end => {
      const { state, errorReason } = await calls
        .run(`Snapshot ${snapshot}`, () => client.snapshot.get(snapshot), { ...ONCE, signal: end })
        .catch(error => {
          throw statusOf(error) === 404 ? missing(error as WorkspaceError) : error
        })
      if (state === 'active') return snapshot
      throw new WorkspaceError('precondition_failed', `${snapshot} is ${state}${errorReason ? `: ${errorReason}` : ''}.`, {
        hint: 'Activate it, or build it again, on the Daytona dashboard.',
      })
    },
    { signal },
  )
}

function missing({ code, message, cause }: WorkspaceError): WorkspaceError {
  return new WorkspaceError(code, message, {
    hint: 'Set daytona.snapshot to the name of one that is there, or make it.',
    cause,
  })
}
