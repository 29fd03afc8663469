import type Dockerode from 'dockerode'
import { type ErrorCode, WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, EnvironmentInfo, EnvironmentState } from '../backend.ts'
import { abortable } from './abortable.ts'
import { engineError, statusOf } from './errors.ts'
import { rootInside, WORKDIR } from './place.ts'
import { NODE, PROGRAM_FOLDER, RUNTIME_FOLDER } from './program.ts'
import type { DockerRecord } from './record.ts'

export type ContainerStatus = 'created' | 'running' | 'paused' | 'restarting' | 'removing' | 'exited' | 'dead'

/** The container; `undefined` when there is none of that name or id. */
export async function inspectContainer(
  docker: Dockerode,
  name: string,
  { signal }: CallOptions = {},
): Promise<Dockerode.ContainerInspectInfo | undefined> {
  try {
    return await docker.getContainer(name).inspect(abortable(signal))
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw engineError(error, `Container ${name}`)
  }
}

/** What a workspace is while its container has a status, or there is none. */
export function stateOf(record: DockerRecord, status: ContainerStatus | undefined): EnvironmentState {
  if (status === 'running' || status === 'restarting') return 'running'
  if (status === 'paused' || status === 'exited' || status === 'created') return 'suspended'
  // Its files are elsewhere, so nothing is gone with the container.
  return record.keep === 'ephemeral' ? 'gone' : 'suspended'
}

/** A workspace as the layers above see it. */
export function infoOf(
  record: DockerRecord,
  container: { status: ContainerStatus | undefined; id?: string; name: string; ended?: string },
): EnvironmentInfo {
  const { id, name, owner, created, keep, image, profile, env, directory, layout } = record
  return {
    ...{ id, backend: 'docker', name, owner, state: stateOf(record, container.status), createdAt: created },
    ...{ workdir: WORKDIR, root: rootInside(record), madeByAtelier: keep !== 'own' },
    gateway: { node: NODE, script: `${PROGRAM_FOLDER}/gateway.mjs`, dir: RUNTIME_FOLDER },
    ...(env === undefined ? {} : { env }),
    ...(directory === undefined ? {} : { directory }),
    ...(layout === undefined ? {} : { layout }),
    ...(container.id === undefined ? {} : { incarnation: container.id }),
    ...(container.ended === undefined ? {} : { ended: container.ended }),
    details: { image, profile, container: container.name, ...(directory === undefined ? {} : { mounted: directory }) },
  }
}

const KILLED = 137
const TERMINATED = 143

/** Why a container that does not run has ended, as the end of a sentence; `undefined` for one that never ran. */
export function whyEnded({ State, HostConfig }: Dockerode.ContainerInspectInfo): string | undefined {
  const { Status, ExitCode, OOMKilled, Error: reason } = State
  if (Status === 'created' || Status === 'running') return undefined
  if (Status === 'paused') return 'it was paused'
  if (OOMKilled && ExitCode !== 0) {
    const limit = HostConfig.Memory ? ` (limit ${Math.round(HostConfig.Memory / 1024 ** 2)} MiB)` : ''
    return `it ran out of memory and was OOM-killed${limit}`
  }
  if (ExitCode === 0 || ExitCode === TERMINATED) return 'it was stopped'
  if (ExitCode === KILLED) return 'it was killed'
  return `it ended with exit code ${ExitCode}${reason === '' ? '' : `: ${reason}`}`
}

const LOG_LINES = 5

/** The error for a container that is not there to be used any more, with what became of it. */
export async function lostError(docker: Dockerode, container: { id: string; name: string }): Promise<WorkspaceError | undefined> {
  const found = await inspectContainer(docker, container.id)
  if (found === undefined) return new WorkspaceError('environment_lost', `Container ${container.name} was removed.`)
  if (found.State.Running && !found.State.Paused) return undefined
  const why = whyEnded(found) ?? 'it is not started'
  const code: ErrorCode = found.State.OOMKilled && found.State.ExitCode !== 0 ? 'out_of_memory' : 'environment_lost'
  const crashed = ![0, KILLED, TERMINATED].includes(found.State.ExitCode)
  const said = crashed ? await lastWords(docker, container.id) : ''
  const oldNode = /SyntaxError|ERR_UNKNOWN_BUILTIN_MODULE|GLIBC/.test(said)
  return new WorkspaceError(oldNode ? 'unsupported' : code, `Container ${container.name} is not running: ${why}.${said}`, {
    hint: oldNode
      ? 'The gateway needs Node 18 or newer in the image.'
      : code === 'out_of_memory'
        ? 'Call again: it is started again. Use less memory, or ask the operator for a larger limit.'
        : undefined,
  })
}

async function lastWords(docker: Dockerode, id: string): Promise<string> {
  const options = { stdout: true, stderr: true, tail: LOG_LINES * 2, follow: false as const }
  const log = await docker
    .getContainer(id)
    .logs(options)
    .catch(() => Buffer.alloc(0))
  // Eight bytes of header before each part.
  const text = log
    .toString('utf8')
    .replace(/[\u0000-\u0002]\0\0\0[\s\S]{4}/g, '')
    .trim()
  return text === '' ? '' : ` Its last words: ${text.slice(-800)}`
}
