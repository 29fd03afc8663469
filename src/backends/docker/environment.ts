import { dirname } from 'node:path'
import type Dockerode from 'dockerode'
import { throwIfAborted, withSignal } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, Environment, EnvironmentInfo, UploadFile } from '../backend.ts'
import { abortable } from './abortable.ts'
import type { DockerContext } from './context.ts'
import { engineError, statusOf } from './errors.ts'
import { runExec, startExec } from './exec.ts'
import { giveBackFiles } from './helper.ts'
import { hostDirectory } from './place.ts'
import { PROGRAM_FOLDER, putEntries, resolveUser } from './program.ts'
import type { DockerRecord } from './record.ts'
import { removeWorkspace } from './remove.ts'
import { removeContainer } from './remove-container.ts'
import { lostError } from './state.ts'
import { createUsage } from './usage.ts'

/** A gateway that was told to end, and its jobs, have this long. */
const STOP_SECONDS = 5
const STDERR_BYTES = 2_000

/** A running container as an environment. */
export function createDockerEnvironment(context: DockerContext, record: DockerRecord, info: EnvironmentInfo): Environment {
  const { docker } = context.engine
  const [id, name] = [info.incarnation ?? '', info.details.container ?? '']
  const container = docker.getContainer(id)

  /** What an error really means: most often, that the container is not there any more. */
  const explain = async (error: unknown): Promise<WorkspaceError> => {
    const plain = engineError(error, `Container ${name}`)
    if (statusOf(error) === undefined) return plain
    return (await lostError(docker, { id, name }).catch(() => undefined)) ?? plain
  }

  const stop = async ({ signal }: CallOptions): Promise<boolean> => {
    try {
      await container.stop({ t: STOP_SECONDS, ...abortable(signal) })
      return true
    } catch (error) {
      if (statusOf(error) === 304) return true
      if (statusOf(error) === 404) return false
      throw engineError(error, `Container ${name}`)
    }
  }

  return {
    info,
    usage: createUsage(container, hostDirectory(context.dataDir, record)),
    async openStream(argv, options) {
      throwIfAborted(options?.signal)
      let said = Buffer.alloc(0)
      const starting = startExec(container, argv, part => {
        said = Buffer.concat([said, part]).subarray(-STDERR_BYTES)
      })
      try {
        const { stream } = await withSignal(starting, options?.signal)
        stream.once('close', () => {
          if (said.length > 0) context.logger.warn({ container: name, said: said.toString() }, 'the gateway complained')
        })
        return stream
      } catch (error) {
        // One that comes too late is nobody's.
        starting.then(({ stream }) => stream.destroy()).catch(() => {})
        throw await explain(error)
      }
    },
    async exec(argv, options) {
      try {
        return await runExec(container, argv, options)
      } catch (error) {
        throw error instanceof WorkspaceError ? error : await explain(error)
      }
    },
    upload: async files => upload(container, info, files),
    // A container has no time-out of its own.
    async keepAlive() {},
    async suspend(call = {}) {
      throwIfAborted(call.signal)
      const there = await stop(call)
      if (record.keep === 'ephemeral') {
        if (there) return
        throw new WorkspaceError('environment_gone', `Container ${name} was removed, and its files with it.`)
      }
      // Where users are remapped, the next container could not work on them.
      const stays = context.engine.userNamespace && record.keep === 'bound'
      if (!stays) await withSignal(giveBackFiles(context, record), call.signal)
      await removeContainer(docker, id, call)
    },
    destroy: call => removeWorkspace(context, record, call),
    async [Symbol.asyncDispose]() {},
  }
}

async function upload(container: Dockerode.Container, info: EnvironmentInfo, files: readonly UploadFile[]): Promise<void> {
  const { Config } = await container.inspect()
  const user = await resolveUser(container, Config.User || '')
  for (const { path, data, mode } of files) {
    const whole = path.startsWith('/') ? path : `${info.root}/${path}`
    // A read-only root file system can be written to below its mounts alone.
    const folder = [PROGRAM_FOLDER, info.workdir, info.root].find(mount => dirname(whole).startsWith(mount)) ?? '/'
    const below = whole.slice(folder.length).replace(/^\/+/, '')
    await putEntries(container, folder, [{ path: below, mode, ...user, content: { bytes: data } }])
  }
}
