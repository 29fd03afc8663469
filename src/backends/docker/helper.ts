import type Dockerode from 'dockerode'
import { withDeadline } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import { userOf } from './container-options.ts'
import type { DockerContext } from './context.ts'
import { engineError } from './errors.ts'
import { inspectImage } from './image.ts'
import { hostDirectories, WORKDIR } from './place.ts'
import { type ContainerUser, putEntries } from './program.ts'
import { type DockerRecord, helperLabels } from './record.ts'

const LIMIT_MS = 120_000

/**
 * Gives what a container left in directories of this host to the host's user, who could not even remove it. Does nothing where that
 * user may do all of it already; a failure is logged and harms nothing.
 */
export async function giveBackFiles(context: DockerContext, record: DockerRecord): Promise<void> {
  const { engine, dataDir, logger } = context
  for (const directory of hostDirectories(dataDir, record)) {
    try {
      const owner = await ownerInside(context, record)
      if (owner === undefined) return
      const mount = { Type: 'bind' as const, Source: directory, Target: '/target' }
      const host = { Mounts: [mount], ...(engine.userNamespace ? { UsernsMode: 'host' } : {}) }
      await runAsRoot(context, { image: record.image, host, argv: ['chown', '-hR', owner, '/target'] })
    } catch (error) {
      logger.warn({ directory, reason: toWorkspaceError(error).message }, 'files were not given back to their user')
    }
  }
}

/** Who the host's user is to root in a helper; `undefined` where that user needs nothing given back. */
async function ownerInside({ engine, hostUser, profiles }: DockerContext, record: DockerRecord): Promise<string | undefined> {
  const user = userOf(profiles.get(record.profile), engine, hostUser)
  if (engine.rootless) {
    // Root in its containers is the host's user.
    const inside = user ?? (await inspectImage(engine.docker, record.image))?.Config.User ?? ''
    return /^(|0|root)(:|$)/.test(inside) ? undefined : '0:0'
  }
  const owner = `${hostUser.uid}:${hostUser.gid}`
  const mayAll = hostUser.uid === 0 && !(engine.userNamespace && record.keep === 'own')
  return mayAll || user === owner ? undefined : owner
}

/** Gives the volume at a container's workdir to its user, also where its root file system can't be written to. */
export async function giveWorkdir(
  context: DockerContext,
  container: Dockerode.Container,
  { image, user, readOnlyRoot }: { image: string; user: ContainerUser; readOnlyRoot: boolean },
): Promise<void> {
  const { uid, gid } = user
  if (readOnlyRoot) {
    return runAsRoot(context, { image, host: { VolumesFrom: [container.id] }, argv: ['chown', `${uid}:${gid}`, WORKDIR] })
  }
  // The engine leaves out an entry for the folder that an archive is extracted to.
  return putEntries(container, '/', [{ path: `${WORKDIR.slice(1)}/`, mode: 0o755, uid, gid, content: { directory: true } }])
}

/** Runs one command in a short-lived container that has no network. */
async function runAsRoot(
  { engine, scope }: DockerContext,
  chore: { image: string; host: Dockerode.HostConfig; argv: readonly string[] },
): Promise<void> {
  const { image, host, argv } = chore
  const what = argv.join(' ')
  let container: Dockerode.Container | undefined
  try {
    container = await engine.docker.createContainer({
      Image: image,
      Labels: helperLabels(scope),
      User: '0:0',
      Entrypoint: argv.slice(0, 1),
      Cmd: argv.slice(1),
      WorkingDir: '/',
      HostConfig: { ...host, NetworkMode: 'none' },
    })
    await container.start()
    const { StatusCode } = await withDeadline(container.wait(), LIMIT_MS, what)
    if (StatusCode !== 0) throw new WorkspaceError('permission_denied', `${what} ended with exit code ${StatusCode}.`)
  } catch (error) {
    throw engineError(error, what)
  } finally {
    await container?.remove({ force: true, v: true }).catch(() => {})
  }
}
