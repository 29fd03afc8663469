import type Dockerode from 'dockerode'
import { engineError, statusOf } from './errors.ts'
import { inspectContainer } from './state.ts'

/** Names that the engine gives to volumes of one container alone. */
const ANONYMOUS = /^[0-9a-f]{64}$/

/** Removes a container with the volumes of its own; one that is gone, or is just going, is fine. */
export async function removeContainer(docker: Dockerode, name: string): Promise<void> {
  const found = await inspectContainer(docker, name)
  if (found === undefined) return
  await ignore([404, 409], docker.getContainer(found.Id).remove({ force: true, v: true }), `Container ${name}`)
  // The engine leaves them where the container ended by itself at that moment.
  for (const { Type, Name = '' } of found.Mounts) {
    if (Type === 'volume' && ANONYMOUS.test(Name)) await ignore([404, 409], docker.getVolume(Name).remove(), `Volume ${Name}`)
  }
}

/** Waits for a removal, whose answers with one of these statuses are as good as success. */
export async function ignore(statuses: readonly number[], removal: Promise<unknown>, what: string): Promise<void> {
  try {
    await removal
  } catch (error) {
    if (!statuses.includes(statusOf(error) ?? 0)) throw engineError(error, what)
  }
}
