import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, ProbeStep } from '../backend.ts'
import { statusOf } from './errors.ts'
import { labelQuery } from './record.ts'
import type { DaytonaContext } from './sdk.ts'
import { DEFAULT_API_URL } from './settings.ts'

/** What `daytona` needs, each with what was found: a service that answers and takes the key, the snapshot. */
export async function probeDaytona(connect: () => Promise<DaytonaContext>, options: CallOptions = {}): Promise<ProbeStep[]> {
  let context: DaytonaContext
  try {
    context = await connect()
  } catch (error) {
    return [failed('client', error)]
  }
  const { apiUrl = DEFAULT_API_URL, target, namespace } = context.settings
  const steps: ProbeStep[] = []
  try {
    const query = { labels: labelQuery({}, namespace), limit: 1 }
    const first = () => context.client.list(query).next()
    await context.calls.run(`Daytona at ${apiUrl}`, first, { ...options, repeatable: true })
    steps.push({ name: 'service', ok: true, detail: `${apiUrl}${target === undefined ? '' : `, region ${target}`}` })
  } catch (error) {
    return [failed('service', error)]
  }
  return [...steps, await source(context, options)]
}

/** What new sandboxes are made from. */
async function source({ client, calls, settings }: DaytonaContext, options: CallOptions): Promise<ProbeStep> {
  const { snapshot, image } = settings
  if (snapshot === undefined) {
    const detail = image === undefined ? 'the default snapshot of the service' : `image ${image}, pulled at the first use`
    return { name: 'snapshot', ok: true, detail }
  }
  try {
    const found = await calls.run(`Snapshot ${snapshot}`, () => client.snapshot.get(snapshot), { ...options, repeatable: true })
    if (found.state === 'active') return { name: 'snapshot', ok: true, detail: snapshot }
    const reason = found.errorReason ? `: ${found.errorReason}` : ''
    const hint = 'Activate it, or build it again, on the Daytona dashboard.'
    return { name: 'snapshot', ok: false, detail: `${snapshot} is ${found.state}${reason}`, hint }
  } catch (error) {
    const hint = statusOf(error) === 404 ? 'Set daytona.snapshot to the name of one that is there, or make it.' : undefined
    return failed('snapshot', error, hint)
  }
}

function failed(name: string, error: unknown, other?: string): ProbeStep {
  const { message, hint = other } = toWorkspaceError(error)
  const next = other ?? hint
  return { name, ok: false, detail: message, ...(next === undefined ? {} : { hint: next }) }
}
