import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type Dockerode from 'dockerode'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, EnvironmentSpec } from '../backend.ts'
import type { DockerContext } from './context.ts'
import { bootFor, type Ready, start } from './create.ts'
import { engineError, statusOf } from './errors.ts'
import { chooseNode } from './node-runtime.ts'
import { putProgram, resolveUser } from './program.ts'
import type { DockerRecord } from './record.ts'
import { type ContainerStatus, inspectContainer, whyEnded } from './state.ts'

type Found = Dockerode.ContainerInspectInfo
type Options = CallOptions & { boot: NonNullable<EnvironmentSpec['boot']> }

/** Between two looks at what another host is doing, and how long it is waited for. */
const POLL_MS = 50
const OTHER_HOST_MS = 10_000

/**
 * Brings a container that was found back to life: starts it, resumes it, waits for the host that is just making it.
 * `undefined`: it is gone, or was beyond repair and has been removed. The answer says why it had not been running.
 */
export async function reviveContainer(
  context: DockerContext,
  found: Found,
  options: Options & { record: DockerRecord },
): Promise<Ready | undefined> {
  const container = context.engine.docker.getContainer(found.Id)
  const ended = whyEnded(found)
  const ready = { record: options.record, id: found.Id }
  try {
    switch (found.State.Status as ContainerStatus) {
      case 'running':
      case 'restarting':
        return ready
      case 'paused':
        await container.unpause()
        return ready
      case 'created':
        if (await becomesOther(context, found.Id, 'created', options)) return ready
        await putIn(context, found, options)
        await start(container)
        return ready
      case 'exited':
        await putIn(context, found, options)
        await start(container)
        return ended === undefined ? ready : { ...ready, ended }
      case 'removing':
        await gone(context, found.Id, options)
        return undefined
      default:
        await container.remove({ force: true, v: true })
        return undefined
    }
  } catch (error) {
    // Somebody else removed, resumed or stopped it meanwhile: look again.
    if (statusOf(error) === 404 || statusOf(error) === 409) return undefined
    throw engineError(error, `Container ${found.Name.slice(1)} can't be started`)
  }
}

/** The program as this host has it: one of an earlier version is replaced while nobody runs it. */
async function putIn(context: DockerContext, found: Found, { boot, record }: Options & { record: DockerRecord }): Promise<void> {
  const { docker } = context.engine
  const container = docker.getContainer(found.Id)
  const [user, { files }] = await Promise.all([resolveUser(container, found.Config.User || ''), bootFor(boot, record)])
  // A container that ran before has its node.
  if (found.State.Status === 'exited') return putProgram(container, { user, files })
  const image = await docker.getImage(found.Image).inspect()
  const cacheFolder = join(context.dataDir, 'cache')
  await putProgram(container, { user, files, node: await chooseNode({ container, image, imageName: record.image, cacheFolder }) })
}

/** Waits while a container is in a passing status; `false` when it still is at the end. */
async function becomesOther(
  { engine }: DockerContext,
  id: string,
  status: ContainerStatus,
  { signal }: CallOptions,
): Promise<boolean> {
  for (const end = Date.now() + OTHER_HOST_MS / 2; Date.now() < end; ) {
    await sleep(POLL_MS, undefined, { signal })
    const now = await inspectContainer(engine.docker, id)
    if (now?.State.Status !== status) return true
  }
  return false
}

async function gone({ engine }: DockerContext, id: string, { signal }: CallOptions): Promise<void> {
  for (const end = Date.now() + OTHER_HOST_MS; Date.now() < end; ) {
    if ((await inspectContainer(engine.docker, id)) === undefined) return
    await sleep(POLL_MS, undefined, { signal })
  }
  throw new WorkspaceError('unavailable', `Container ${id.slice(0, 12)} is being removed and does not go.`, {
    hint: 'See what the engine says: docker ps -a.',
  })
}
