import { join } from 'node:path'
import type Dockerode from 'dockerode'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { EnvironmentSpec, ProvisionOptions } from '../backend.ts'
import { containerOptions, userOf } from './container-options.ts'
import { containerName, type DockerContext } from './context.ts'
import { engineError, statusOf, wasCut } from './errors.ts'
import { giveWorkdir } from './helper.ts'
import { ensureImage } from './image.ts'
import { chooseNode } from './node-runtime.ts'
import { hostDirectory, type PreparedPlace, preparePlace, rootInside, WORKDIR } from './place.ts'
import type { DockerProfile } from './profile.ts'
import { type ContainerUser, NODE, PROGRAM_FOLDER, putProgram, RUNTIME_FOLDER, resolveUser } from './program.ts'
import { type DockerRecord, labelsOf } from './record.ts'
import { removeContainer } from './remove-container.ts'
import { inspectContainer } from './state.ts'

type Boot = NonNullable<EnvironmentSpec['boot']>

/** A container that runs, and why it had not been running before. */
export interface Ready {
  record: DockerRecord
  id: string
  ended?: string
}

/** The gateway for a workspace's container: its files and the command that becomes the main process. */
export function bootFor(boot: Boot, record: Pick<DockerRecord, 'keep' | 'layout'>): ReturnType<Boot> {
  return boot({ node: NODE, folder: PROGRAM_FOLDER, dir: RUNTIME_FOLDER, workdir: WORKDIR, root: rootInside(record) })
}

/**
 * Makes and starts the container of a workspace that has none. What this call made goes again when it fails, unless somebody
 * came to use it meanwhile. `undefined`: another host was first.
 */
export async function createContainer(
  context: DockerContext,
  wanted: DockerRecord,
  options: ProvisionOptions & { boot: Boot },
): Promise<Ready | undefined> {
  const { engine, dataDir, scope, profiles, hostUser, logger } = context
  const profile = profiles.get(wanted.profile)
  const image = await ensureImage(engine.docker, wanted.image, { ...options, logger })
  const user = userOf(profile, engine, hostUser) ?? image.Config.User ?? ''
  const place = await preparePlace(wanted, { dataDir, scope, foreign: foreignTo(engine, user) })
  let container: Dockerode.Container | undefined
  try {
    container = await make(context, { place, profile, boot: options.boot })
    if (container === undefined) return undefined
    const owner = await resolveUser(container, user)
    await fill(container, { context, place, image, user: owner, boot: options.boot })
    options.signal?.throwIfAborted()
    await start(container)
    return { record: place.record, id: container.id }
  } catch (error) {
    if (container === undefined || (await removeUnused(context, container))) await takeBack(context, place)
    throw engineError(error, `Workspace ${wanted.name}: its container was not made`)
  }
}

/** Whether somebody else than the container's user owns what a user of this host made, so that it can't write there. */
function foreignTo({ rootless, userNamespace }: DockerContext['engine'], user: string): (ownerUid: number) => boolean {
  const [name = ''] = user.split(':')
  const uid = name === '' || name === 'root' ? 0 : Number(name)
  if (uid === 0) return () => userNamespace
  return ownerUid => rootless || userNamespace || ownerUid !== uid
}

interface Making {
  place: PreparedPlace
  profile: DockerProfile
  boot: Boot
}

async function make(context: DockerContext, { place, profile, boot }: Making): Promise<Dockerode.Container | undefined> {
  const { engine, hostUser, scope } = context
  const { record, mounts } = place
  const { argv } = await bootFor(boot, record)
  try {
    return await engine.docker.createContainer({
      ...containerOptions({ profile, engine, hostUser, mounts }),
      name: containerName(context, record.id),
      Image: record.image,
      Labels: labelsOf(record, scope),
      // The image's own must not come before it.
      Entrypoint: argv.slice(0, 1),
      Cmd: argv.slice(1),
      Healthcheck: { Test: ['NONE'] },
    })
  } catch (error) {
    // Also where the answer was lost: the name tells whether there is one, and keeps a second try from making another.
    if (statusOf(error) === 409 || wasCut(error)) return undefined
    throw error
  }
}

interface Filling {
  context: DockerContext
  place: PreparedPlace
  image: Dockerode.ImageInspectInfo
  user: ContainerUser
  boot: Boot
}

async function fill(container: Dockerode.Container, { context, place, image, user, boot }: Filling): Promise<void> {
  const { record } = place
  const cacheFolder = join(context.dataDir, 'cache')
  const [{ files }, node] = await Promise.all([
    bootFor(boot, record),
    chooseNode({ container, image, imageName: record.image, cacheFolder }),
  ])
  await putProgram(container, { user, files, node })
  if (hostDirectory(context.dataDir, record) !== undefined || user.uid === 0) return
  const readOnlyRoot = context.profiles.get(record.profile).readOnlyRoot === true
  await giveWorkdir(context, container, { image: record.image, user, readOnlyRoot })
}

/** Starts a container; one that runs already is fine. */
export async function start(container: Dockerode.Container): Promise<void> {
  try {
    await container.start()
  } catch (error) {
    if (statusOf(error) !== 304) throw error
  }
}

/** Removes a container that this call made unless it is in use; whether it is gone. */
async function removeUnused({ engine, logger }: DockerContext, container: Dockerode.Container): Promise<boolean> {
  try {
    const found = await inspectContainer(engine.docker, container.id)
    if (found === undefined) return true
    if ((found.ExecIDs?.length ?? 0) > 0) return false
    await removeContainer(engine.docker, container.id)
    return true
  } catch (error) {
    logger.warn({ container: container.id, reason: toWorkspaceError(error).message }, 'a half-made container was left')
    return false
  }
}

async function takeBack({ logger }: DockerContext, place: PreparedPlace): Promise<void> {
  await place.takeBack().catch(error => logger.warn({ reason: toWorkspaceError(error).message }, 'made folders were left'))
}
