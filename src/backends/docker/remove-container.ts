import type Dockerode from 'dockerode'
import { withDeadline } from '../../lib/deadline.ts'
import type { CallOptions } from '../backend.ts'
import { abortable } from './abortable.ts'
import { engineError, statusOf } from './errors.ts'
import { inspectContainer } from './state.ts'

/** Names that the engine gives to volumes of one container alone. */
const ANONYMOUS = /^[0-9a-f]{64}$/

/** A removal by somebody else takes no longer. */
const REMOVAL_MS = 30_000

/** Removes a container with the volumes of its own; one that is gone, or is just going, is fine. */
export async function removeContainer(docker: Dockerode, name: string, call: CallOptions = {}): Promise<void> {
  const found = await inspectContainer(docker, name, call)
  if (found === undefined) return
  const container = docker.getContainer(found.Id)
  const what = `Container ${name}`
  const cancel = abortable(call.signal)
  const removed = await ignore([404, 409], container.remove({ force: true, v: true, ...cancel }), what)
  // Its volumes are in use for as long as somebody else is removing it.
  if (removed === 409)
    await ignore([404], withDeadline(container.wait({ condition: 'removed', ...cancel }), REMOVAL_MS, what), what)
  // The engine leaves them where the container ended by itself at that moment.
  for (const { Type, Name = '' } of found.Mounts) {
    if (Type === 'volume' && ANONYMOUS.test(Name))
      await ignore([404, 409], docker.getVolume(Name).remove(cancel), `Volume ${Name}`)
  }
}

/** Waits for a removal, whose answers with one of these statuses are as good as success; gives the status that was ignored. */
export async function ignore(statuses: readonly number[], removal: Promise<unknown>, what: string): Promise<number | undefined> {
  try {
    await removal
  } catch (error) {
    const status = statusOf(error)
    if (status === undefined || !statuses.includes(status)) throw engineError(error, what)
    return status
  }
}
